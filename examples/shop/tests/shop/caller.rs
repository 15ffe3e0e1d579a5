//! A gRPC client over a real connection, and pods of the catalog to call.

use std::net::SocketAddr;

use anyhow::Result;
use demo_shop::proto::pod_client::PodClient;
use demo_shop::proto::{Tick, WatchRequest};
use demo_shop::{PodConfig, RunningPod};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tonic::Streaming;

pub(crate) type Caller = PodClient<Client<HttpConnector, tonic::body::Body>>;

pub(crate) fn caller(address: SocketAddr) -> Result<Caller> {
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    Ok(PodClient::with_origin(client, format!("http://{address}").parse()?))
}

pub(crate) async fn watch(address: SocketAddr) -> Result<Streaming<Tick>> {
    Ok(caller(address)?.watch(WatchRequest { every_ms: 5 }).await?.into_inner())
}

pub(crate) async fn open_catalog(config: PodConfig) -> Result<RunningPod> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    Ok(demo_shop::serve_catalog(listener, config)?)
}
