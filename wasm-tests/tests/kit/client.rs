//! Proves the client: what reaches a server, and what is noticed about the connection.

use std::time::Duration;

use browser::{Heartbeat, Kind, User, Visit, WebSocket, send_raw};
use futures_util::{SinkExt, StreamExt};
use http::{Method, Version};
use tokio::net::TcpListener;

use crate::mirror;

#[tokio::test]
async fn cookies_come_back_over_both_protocols() {
    let address = mirror::start().await;
    let users = [User::http1(address, "shop.example:8080"), User::http2(address, "shop.example:8080")];
    for (mut user, protocol) in users.into_iter().zip([Version::HTTP_11, Version::HTTP_2]) {
        let visit = Visit::new(Kind::Navigate, "/a?b=c").header("x-set-cookie", "id=7; Path=/");
        let first = user.send(&visit.clone().header("x-set-cookie", "other=8")).await.expect("a response");
        assert_eq!((first.status, first.protocol), (200, protocol));
        assert_eq!(first.set_cookies(), ["id=7; Path=/", "other=8"]);
        let second = user.fetch("/d").await.expect("a response").text();
        assert!(second.lines().any(|line| line == "cookie: id=7; other=8"), "{second}");
    }
}

#[tokio::test]
async fn http2_takes_the_authority_from_the_host() {
    let address = mirror::start().await;
    let text = User::http2(address, "shop.example").navigate("/x?y").await.expect("a response").text();
    assert!(text.starts_with("GET http://shop.example/x?y\n"), "{text}");
}

#[tokio::test]
async fn a_navigation_and_a_fetch_and_an_api_call_look_different() {
    let mut user = User::http1(mirror::start().await, "shop.example");
    let navigation = user.navigate("/").await.expect("a response").text();
    assert!(navigation.contains("sec-fetch-mode: navigate\n"), "{navigation:?}");
    assert!(navigation.contains("accept: text/html,"), "{navigation:?}");
    let fetch = user.fetch("/").await.expect("a response").text();
    assert!(fetch.contains("sec-fetch-mode: cors\n"), "{fetch:?}");
    assert!(fetch.contains("accept: */*\n"), "{fetch:?}");
    let api = user.api("/").await.expect("a response").text();
    assert!(!api.contains("sec-fetch-mode"), "{api:?}");
    assert!(api.contains("accept: */*\n"), "{api:?}");
}

#[tokio::test]
async fn an_api_call_neither_sends_nor_keeps_cookies() {
    let mut user = User::http1(mirror::start().await, "shop.example");
    user.jar.plant("id", "7", "shop.example");
    let visit = Visit::new(Kind::Api, "/").header("x-set-cookie", "new=1");
    let text = user.send(&visit).await.expect("a response").text();
    assert!(!text.contains("\ncookie:"), "{text}");
    assert_eq!(user.jar.names(), ["id"]);
}

#[tokio::test]
async fn secure_cookies_are_kept_on_plain_http_only_when_told_so() {
    let address = mirror::start().await;
    let visit = Visit::new(Kind::Navigate, "/").header("x-set-cookie", "__Host-id=7; Path=/; Secure");
    let mut plain = User::http1(address, "shop.example");
    plain.send(&visit).await.expect("a response");
    assert_eq!((plain.jar.names().len(), plain.jar.refused().len()), (0, 1));
    let mut secure = User::http1(address, "shop.example").as_if_tls();
    secure.send(&visit).await.expect("a response");
    assert_eq!(secure.cookies_for("/any").as_deref(), Some("__Host-id=7"));
}

#[tokio::test]
async fn a_visit_sets_method_body_and_headers() {
    let mut user = User::http1(mirror::start().await, "shop.example");
    let visit = Visit::new(Kind::Fetch, "/").method(Method::POST).body("abc").header("Accept", [0xff]);
    let text = user.send(&visit).await.expect("a response").text();
    assert!(text.starts_with("POST /\n") && text.contains("content-length: 3\n"), "{text}");
    assert!(text.contains("accept: \\xff\n") && !text.contains("accept: */*"), "{text}");
}

#[tokio::test]
async fn a_closed_connection_is_announced_and_the_next_one_counts_as_reopened() {
    let mut user = User::http1(mirror::start().await, "shop.example");
    let first = user.navigate("/").await.expect("a response");
    let kept = user.navigate("/close").await.expect("a response");
    let next = user.navigate("/").await.expect("a response");
    let seen = [&first, &kept, &next].map(|response| (response.reopened, response.closing));
    assert_eq!(seen, [(false, false), (false, true), (true, false)]);
}

#[tokio::test]
async fn responses_at_once_are_kept_in_the_order_in_which_they_come() {
    let mut user = User::http1(mirror::start().await, "shop.example");
    let visit = |delay, cookie| {
        Visit::new(Kind::Navigate, "/").header("x-delay", delay).header("x-set-cookie", cookie)
    };
    let responses = user.send_at_once(&[visit("300", "id=slow"), visit("0", "id=fast")]).await;
    let cookies: Vec<_> =
        responses.into_iter().map(|response| response.expect("a response").set_cookies()).collect();
    assert_eq!(cookies, [["id=slow"], ["id=fast"]]);
    assert_eq!(user.jar.get("id"), Some("slow"));
}

#[tokio::test]
async fn raw_bytes_arrive_as_they_are() {
    let address = mirror::start().await;
    let request =
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1\r\ncookie: b=\xff\xfe\r\nConnection: close\r\n\r\n";
    let response = send_raw(address, request, Duration::from_secs(5)).await.expect("a response");
    let body = String::from_utf8(response.body).expect("text");
    assert_eq!(response.status, 200);
    assert!(body.contains("cookie: a=1\ncookie: b=\\xff\\xfe\n"), "{body}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_an_error_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = silent.local_addr().expect("bound");
    let error = send_raw(address, b"GET", Duration::from_millis(50)).await.expect_err("nothing comes");
    assert_eq!(error.to_string(), "no response within 50ms");
}

#[tokio::test]
async fn a_connection_that_breaks_during_a_request_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let error = User::http1(address, "shop.example").navigate("/").await.expect_err("the server hangs up");
    assert!(error.to_string().starts_with("lost the request"), "{error}");
}

/// A WebSocket server that echoes `echoes` messages and then breaks the connection.
async fn echo_server(echoes: usize) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a client");
        let mut socket = tokio_tungstenite::accept_async(stream).await.expect("a handshake");
        for _ in 0..echoes {
            let Some(Ok(message)) = socket.next().await else { return };
            socket.send(message).await.expect("the client listens");
        }
    });
    address
}

#[tokio::test]
async fn a_heartbeat_counts_its_echoes() {
    let address = echo_server(usize::MAX).await;
    let socket = WebSocket::open(address, "shop.example", "/ws", &[("cookie", "a=1")]).await.expect("open");
    let heartbeat = Heartbeat::start(socket, Duration::from_millis(5));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let echoes = heartbeat.stop().await.expect("alive");
    assert!(echoes > 1, "{echoes} echoes");
}

#[tokio::test]
async fn a_heartbeat_notices_that_its_connection_broke() {
    let address = echo_server(2).await;
    let socket = WebSocket::open(address, "shop.example", "/ws", &[]).await.expect("open");
    let heartbeat = Heartbeat::start(socket, Duration::from_millis(5));
    tokio::time::sleep(Duration::from_millis(200)).await;
    heartbeat.stop().await.expect_err("the connection broke");
}
