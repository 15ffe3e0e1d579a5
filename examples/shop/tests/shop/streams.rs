//! gRPC streams of the shop and of the catalog: how they live, and how they end.

use std::time::Duration;

use anyhow::{Context as _, Result};
use demo_shop::proto::{AskRequest, WatchRequest};
use demo_shop::{PodConfig, ShopConfig, Stopped};
use http::StatusCode;
use tonic::{Code, Request};

use crate::browser::{Browser, Protocol, open_shop, open_shop_with, until};
use crate::caller::{caller, open_catalog, watch};

#[tokio::test]
async fn a_stream_ticks_in_order_with_the_names_of_its_pod() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut ticks = watch(shop.local_addr()).await?;
    for number in 1..=3 {
        let tick = ticks.message().await?.context("ended")?;
        assert_eq!((tick.number, tick.version.as_str(), tick.pod.as_str()), (number, "v1", "v1-a"));
    }
    Ok(())
}

#[tokio::test]
async fn a_call_ends_with_the_status_that_it_asks_for() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut caller = caller(shop.local_addr())?;
    let mut ask = Request::new(AskRequest {});
    ask.metadata_mut().insert("x-shop-grpc-status", "13".parse()?);
    assert_eq!(caller.ask(ask).await.map_err(|status| status.code()).err(), Some(Code::Internal));
    let mut watch = Request::new(WatchRequest { every_ms: 5 });
    watch.metadata_mut().insert("x-shop-grpc-status", "14".parse()?);
    let mut ticks = caller.watch(watch).await?.into_inner();
    assert_eq!(ticks.message().await?.map(|tick| tick.number), Some(1));
    assert_eq!(ticks.message().await.map_err(|status| status.code()).err(), Some(Code::Unavailable));
    Ok(())
}

#[tokio::test]
async fn a_stream_is_counted_until_its_client_leaves() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut ticks = watch(shop.local_addr()).await?;
    ticks.message().await?;
    assert_eq!(shop.inspector().stats().streams, 1);
    drop(ticks);
    until(|| shop.inspector().stats().streams == 0).await
}

#[tokio::test]
async fn a_stop_ends_the_streams_of_shop_and_catalog_with_status_ok() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let catalog = open_catalog(PodConfig::new("v1", "catalog-v1-a")?).await?;
    let mut streams = [watch(shop.local_addr()).await?, watch(catalog.local_addr()).await?];
    for ticks in &mut streams {
        ticks.message().await?.context("ended before the stop")?;
    }
    let ends = streams.map(|mut ticks| {
        tokio::spawn(async move {
            // An error here is a stream that was cut.
            while ticks.message().await?.is_some() {}
            anyhow::Ok(ticks.trailers().await?.is_some())
        })
    });
    assert_eq!((shop.stop().await, catalog.stop().await), (Stopped::Clean, Stopped::Clean));
    for end in ends {
        assert!(end.await??, "trailers came: the end was said, not only seen");
    }
    Ok(())
}

#[tokio::test]
async fn a_pod_that_lingers_fails_its_readiness_and_serves_on() -> Result<()> {
    let config = PodConfig::new("v1", "v1-a")?.with_linger(Duration::from_mins(1));
    let shop = open_shop_with(ShopConfig::from(config.clone())).await?;
    let catalog = open_catalog(config).await?;
    for address in [shop.local_addr(), catalog.local_addr()] {
        let ready =
            Browser::new(Protocol::Http1).status(format!("http://{address}/healthz").parse()?).await?;
        assert_eq!(ready, StatusCode::OK);
    }
    let addresses = [(shop.local_addr(), "/api/ping"), (catalog.local_addr(), "/")];
    let stops = [tokio::spawn(shop.stop()), tokio::spawn(catalog.stop())];
    // The stops have begun when their tasks have run once.
    tokio::task::yield_now().await;
    for (address, path) in addresses {
        let browser = Browser::new(Protocol::Http1);
        let probe = browser.status(format!("http://{address}/healthz").parse()?).await?;
        assert_eq!(probe, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(browser.status(format!("http://{address}{path}").parse()?).await?, StatusCode::OK);
    }
    // The test does not wait a minute: dropping a stop kills its pod.
    stops.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}
