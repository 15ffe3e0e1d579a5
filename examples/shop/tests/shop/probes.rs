//! The endpoints for tests of proxies, and the limits a proxy's odd requests must not hit.

use std::time::{Duration, Instant};

use anyhow::Result;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;

use crate::browser::{Browser, Protocol, open_shop};

#[tokio::test]
async fn headers_shows_every_line_and_the_raw_path() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    for (protocol, name) in [(Protocol::Http1, "HTTP/1.1"), (Protocol::Http2, "HTTP/2.0")] {
        let request = Request::get("/headers?a=%2F&b")
            .header("x-a", "1")
            .header("x-b", HeaderValue::from_bytes(b"\xff!")?)
            .header("x-a", "2");
        let seen = Browser::new(protocol).send(&shop, request).await?.json()?;
        assert_eq!(seen[":path"], "/headers?a=%2F&b");
        assert_eq!(seen[":authority"], shop.local_addr().to_string());
        assert_eq!(seen["protocol"], name);
        let ours: Vec<_> =
            seen["headers"].as_array().into_iter().flatten().filter(|pair| pair[0] != "host").collect();
        assert_eq!(json!(ours), json!([["x-a", "1"], ["x-a", "2"], ["x-b", "\u{fffd}!"]]));
    }
    Ok(())
}

#[tokio::test]
async fn two_hundred_headers_and_cookies_of_8_kb_arrive() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut request = Request::get("/headers");
        for number in 0..200 {
            request = request.header(format!("x-many-{number}"), "v");
        }
        for _ in 0..4 {
            request = request.header("cookie", format!("big={}", "c".repeat(8 * 1024)));
        }
        let seen = Browser::new(protocol).send(&shop, request).await?.json()?;
        let lines = seen["headers"].as_array().map(Vec::len);
        assert!(lines >= Some(204), "{lines:?} lines");
    }
    Ok(())
}

#[tokio::test]
async fn slow_takes_its_time_and_stream_sends_every_line() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    let start = Instant::now();
    assert_eq!(browser.get(&shop, "/slow?ms=80").await?.status, StatusCode::OK);
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(80), "{took:?}");

    let start = Instant::now();
    let streamed = browser.get(&shop, "/stream?n=3&ms=20").await?;
    assert_eq!(&streamed.body[..], b"v1 v1-a 1/3\nv1 v1-a 2/3\nv1 v1-a 3/3\n");
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(40), "{took:?}");
    let cut = browser.get(&shop, "/stream?n=3&ms=1&cut=2").await;
    assert!(cut.is_err(), "the connection ends before the third line: {:?}", cut.map(|reply| reply.body));
    Ok(())
}

#[tokio::test]
async fn status_answers_what_was_asked_and_refuses_what_is_no_response() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    for code in [200, 204, 304, 404, 503, 599] {
        assert_eq!(browser.get(&shop, &format!("/status/{code}")).await?.status.as_u16(), code);
    }
    for path in ["/status/101", "/status/600", "/status/x", "/slow?ms=soon", "/cart/add"] {
        let reply = browser.get(&shop, path).await?;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{path}");
        assert!(reply.json()?["error"].as_str().is_some_and(|text| text.contains("expected")), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn cookies_are_set_as_asked_and_two_stay_two_lines() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    let two = browser.get(&shop, "/two-cookies").await?;
    assert_eq!(two.cookies().len(), 2);
    assert!(two.cookies()[0].starts_with("JSESSIONID="), "{:?}", two.cookies());

    let set = browser.get(&shop, "/set?name=a&value=b%20c&Path=/x&Secure&SameSite=Lax").await?;
    assert_eq!(set.cookies(), ["a=b c; Path=/x; Secure; SameSite=Lax"]);
    let evil = browser.get(&shop, "/set?name=a&value=b%0d%0ax-evil:1").await?;
    assert_eq!(evil.status, StatusCode::BAD_REQUEST);
    Ok(())
}

#[tokio::test]
async fn wrong_methods_and_unknown_pages_are_refused_with_the_names_on() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    let get = browser.get(&shop, "/login?user=ada").await?;
    assert_eq!((get.status, get.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, Some("POST")));
    let unknown = browser.get(&shop, "/nowhere").await?;
    assert_eq!((unknown.status, unknown.header("x-shop-version")), (StatusCode::NOT_FOUND, Some("v1")));
    let late = browser.send(&shop, Request::get("/").header("x-shop-delay-ms", "soon")).await?;
    assert_eq!(late.status, StatusCode::BAD_REQUEST);
    Ok(())
}

#[tokio::test]
async fn options_and_head_change_and_carry_nothing() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut browser = Browser::new(protocol);
        let options = browser.send(&shop, Request::builder().method(Method::OPTIONS).uri("/")).await?;
        assert_eq!((options.status, options.cookies().len()), (StatusCode::NO_CONTENT, 0));
        let length = browser.get(&shop, "/api/ping").await?.body.len().to_string();
        let head = browser.send(&shop, Request::head("/api/ping")).await?;
        assert_eq!(head.header("content-length"), Some(length.as_str()));
        assert!(head.body.is_empty(), "{:?}", head.body);
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_lives_on_after_a_body_that_nobody_needed() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let stream = TokioIo::new(TcpStream::connect(shop.local_addr()).await?);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
    tokio::spawn(connection);
    for length in [0, 300_000, 0] {
        let body = Full::new(Bytes::from(vec![b'x'; length]));
        let request = Request::post("/cart?item=tea").header("host", "shop").body(body)?;
        sender.ready().await?;
        let reply = sender.send_request(request).await?;
        assert_eq!(reply.status(), StatusCode::OK);
        reply.into_body().collect().await?;
    }
    let body = Full::new(Bytes::from(vec![b'x'; (1 << 20) + 1]));
    let request = Request::post("/cart?item=tea").header("host", "shop").body(body)?;
    sender.ready().await?;
    assert_eq!(sender.send_request(request).await?.status(), StatusCode::PAYLOAD_TOO_LARGE);
    Ok(())
}
