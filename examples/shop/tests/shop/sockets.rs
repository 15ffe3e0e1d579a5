//! `WebSocket`s: over HTTP/1.1 as browsers open them, over HTTP/2 as proxies may forward them.

use anyhow::{Context as _, Result};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use http::{Method, Request, StatusCode};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::ext::Protocol as Extended;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, connect_async};

use crate::browser::{Browser, Protocol, open_shop, until};

async fn ask<S>(socket: &mut S, message: Message) -> Result<Message>
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Unpin,
{
    socket.send(message).await?;
    Ok(socket.next().await.context("the socket ended")??)
}

#[tokio::test]
async fn an_echo_names_version_and_pod() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let (mut socket, reply) = connect_async(format!("ws://{}/ws", shop.local_addr())).await?;
    assert_eq!(reply.headers()["x-shop-pod"], "v1-a");
    assert_eq!(ask(&mut socket, Message::text("hello")).await?, Message::text("v1/v1-a: hello"));
    assert_eq!(
        ask(&mut socket, Message::binary(&b"\xff"[..])).await?,
        Message::binary(&b"v1/v1-a: \xff"[..])
    );
    assert_eq!(ask(&mut socket, Message::Ping("p".into())).await?, Message::Pong("p".into()));
    assert_eq!(shop.inspector().stats().sockets, 1);
    socket.close(None).await?;
    until(|| shop.inspector().stats().sockets == 0).await
}

#[tokio::test]
async fn an_echo_works_over_http2() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let stream = TokioIo::new(TcpStream::connect(shop.local_addr()).await?);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await?;
    tokio::spawn(connection);
    let base = format!("http://{}", shop.local_addr());
    // The first response brings the settings that allow the extended CONNECT.
    sender.send_request(Request::get(format!("{base}/healthz")).body(Empty::<Bytes>::new())?).await?;

    let request = Request::builder()
        .method(Method::CONNECT)
        .uri(format!("{base}/ws"))
        .extension(Extended::from_static("websocket"))
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
        .body(Empty::new())?;
    let reply = sender.send_request(request).await?;
    assert_eq!(reply.status(), StatusCode::OK);
    // The example of RFC 6455, section 1.3: a proxy hands it to its client that speaks HTTP/1.1.
    assert_eq!(reply.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    let upgraded = TokioIo::new(hyper::upgrade::on(reply).await?);
    let mut socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
    assert_eq!(ask(&mut socket, Message::text("hello")).await?, Message::text("v1/v1-a: hello"));
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_no_handshake_is_told_so() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let reply = Browser::new(Protocol::Http1).get(&shop, "/ws").await?;
    assert_eq!((reply.status, reply.header("upgrade")), (StatusCode::UPGRADE_REQUIRED, Some("websocket")));
    Ok(())
}
