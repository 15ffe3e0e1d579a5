//! Reads a local Envoy's admin interface. Nothing is changed through it.

use super::{Error, Stats};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A local Envoy's admin interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admin {
    address: SocketAddr,
}

/// The answer comes from memory; what takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that this tool looks at, so that an Envoy with ten thousand clusters does not print every one of theirs.
const FILTER: &str = "canary_|extension_config_discovery|version_text|warming_clusters|membership_|update_rejected|server.state";

impl Admin {
    /// The interface at an address; nothing is sent yet.
    pub const fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// The address.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The statistics as they are now. Fails where Envoy does not answer.
    pub async fn stats(&self) -> Result<Stats, Error> {
        let query = FILTER.replace('|', "%7C");
        Ok(Stats::parse(&self.get(&format!("/stats?filter={query}")).await?))
    }

    /// The text of an admin page. Fails where Envoy does not answer, or not with 200.
    pub async fn get(&self, path: &str) -> Result<String, Error> {
        match timeout(PATIENCE, self.fetch(path)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(self.unreachable("no answer in time")),
        }
    }

    async fn fetch(&self, path: &str) -> Result<String, Error> {
        let failed = |error: hyper::Error| self.unreachable(&error);
        let stream = TcpStream::connect(self.address).await.map_err(|error| self.unreachable(&error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let driver = tokio::spawn(connection);
        let request = Request::get(path)
            .header(hyper::header::HOST, self.address.to_string())
            .body(Empty::<Bytes>::new())
            .map_err(|error| self.unreachable(&error))?;
        let response = sender.send_request(request).await.map_err(failed)?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
        driver.abort();
        if !status.is_success() {
            return Err(self.unreachable(&format!("{status} for {path}")));
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn unreachable(&self, reason: &(impl ToString + ?Sized)) -> Error {
        Error::Unreachable { address: self.address, reason: reason.to_string() }
    }
}
