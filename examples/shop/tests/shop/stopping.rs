//! How a pod ends: gracefully, by SIGKILL, or at once.

use std::time::Duration;

use anyhow::{Context as _, Result};
use demo_shop::{ShopConfig, Stopped};
use futures_util::StreamExt as _;
use http::StatusCode;
use tokio::net::TcpStream;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::browser::{Browser, Protocol, open_shop, open_shop_with, until};

/// Requests a slow response in a task of its own and returns once the shop processes it.
async fn in_flight(
    shop: &demo_shop::RunningShop,
    protocol: Protocol,
    ms: u32,
) -> Result<tokio::task::JoinHandle<Option<StatusCode>>> {
    let uri = format!("http://{}/slow?ms={ms}", shop.local_addr()).parse()?;
    let task = tokio::spawn(async move { Browser::new(protocol).status(uri).await.ok() });
    until(|| shop.inspector().stats().requests == 1).await?;
    Ok(task)
}

#[tokio::test]
async fn a_stop_answers_what_is_in_flight_and_accepts_no_more() -> Result<()> {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let shop = open_shop("v1", "v1-a").await?;
        let address = shop.local_addr();
        let response = in_flight(&shop, protocol, 200).await?;
        assert_eq!(shop.stop().await, Stopped::Clean);
        assert_eq!(response.await?, Some(StatusCode::OK));
        TcpStream::connect(address).await.unwrap_err();
    }
    Ok(())
}

#[tokio::test]
async fn a_stop_does_not_wait_for_idle_connections() -> Result<()> {
    let config = ShopConfig::new("v1", "v1-a")?.with_grace(Duration::from_secs(30));
    let shop = open_shop_with(config).await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.get(&shop, "/").await?;
    let _silent = TcpStream::connect(shop.local_addr()).await?;
    let stopped = tokio::time::timeout(Duration::from_secs(5), shop.stop()).await?;
    assert_eq!(stopped, Stopped::Clean);
    Ok(())
}

#[tokio::test]
async fn a_stop_says_goodbye_on_websockets() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let (mut socket, _) = connect_async(format!("ws://{}/ws", shop.local_addr())).await?;
    until(|| shop.inspector().stats().sockets == 1).await?;
    let goodbye = tokio::spawn(async move {
        let first = socket.next().await;
        // Reading on answers the goodbye.
        while socket.next().await.is_some() {}
        first
    });
    assert_eq!(shop.stop().await, Stopped::Clean);
    let Message::Close(Some(frame)) = goodbye.await?.context("cut")?? else {
        anyhow::bail!("expected a close frame");
    };
    assert_eq!(frame.code, CloseCode::Away);
    Ok(())
}

#[tokio::test]
async fn a_request_longer_than_the_grace_is_cut() -> Result<()> {
    let config = ShopConfig::new("v1", "v1-a")?.with_grace(Duration::from_millis(50));
    let shop = open_shop_with(config).await?;
    let response = in_flight(&shop, Protocol::Http1, 20_000).await?;
    assert_eq!(shop.stop().await, Stopped::Cut);
    assert_eq!(response.await?, None);
    Ok(())
}

#[tokio::test]
async fn a_killed_or_dropped_shop_answers_nobody() -> Result<()> {
    for dropped in [false, true] {
        let shop = open_shop("v1", "v1-a").await?;
        let address = shop.local_addr();
        let response = in_flight(&shop, Protocol::Http1, 20_000).await?;
        if dropped {
            drop(shop);
        } else {
            shop.kill().await;
        }
        assert_eq!(response.await?, None);
        TcpStream::connect(address).await.unwrap_err();
    }
    Ok(())
}
