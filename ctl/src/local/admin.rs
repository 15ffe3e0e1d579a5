//! Reads a local Envoy's admin interface. Nothing is changed through it.

use super::{Error, Stats};
use crate::http::{HttpClient, HttpError, Limits};
use http_body_util::Full;
use hyper::Request;
use std::net::SocketAddr;
use std::time::Duration;

/// A local Envoy's admin interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admin {
    address: SocketAddr,
}

/// The response comes from memory; an Envoy that takes longer hangs. The metrics of [`FILTER`] are some 500 bytes a
/// cluster, so that ten thousand clusters stay far below the limit.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), body_bytes: 64 * 1024 * 1024 };

/// The metrics that this tool reads, so that an Envoy with ten thousand clusters does not print those of each cluster.
const FILTER: &str =
    "canary_|extension_config_discovery|version_text|warming_clusters|membership_|update_rejected";

impl Admin {
    /// The interface at an address; nothing is sent yet.
    pub const fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The current statistics.
    ///
    /// # Errors
    ///
    /// As [`Admin::get`].
    pub async fn stats(&self) -> Result<Stats, Error> {
        let filter = FILTER.replace('|', "%7C");
        let path = format!("/stats/prometheus?text_readouts&filter={filter}");
        Ok(Stats::parse(&self.get(&path).await?))
    }

    /// The text of an admin page.
    ///
    /// # Errors
    ///
    /// If Envoy does not respond in 5 s, or not with 200, or with more than 64 MiB.
    pub async fn get(&self, path: &str) -> Result<String, Error> {
        let request = Request::get(format!("http://{}{path}", self.address)).body(Full::default());
        let request = request.map_err(|error| self.unreachable(&error))?;
        // A client, and so a connection, for each request: Envoys start and stop.
        let sent = HttpClient::plain(LIMITS).send(request).await;
        let response = sent.map_err(|error| self.unreachable(reason(&error).as_str()))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.unreachable(&format!("{status} for {path}")));
        }
        Ok(String::from_utf8_lossy(response.body()).into_owned())
    }

    fn unreachable(&self, reason: &(impl ToString + ?Sized)) -> Error {
        Error::Unreachable { address: self.address, reason: reason.to_string() }
    }
}

/// The innermost cause: `Connection refused`, not that there is no connection.
fn reason(error: &HttpError) -> String {
    let HttpError::Exchange(error) = error else { return error.to_string() };
    let outermost: &dyn std::error::Error = error.as_ref();
    let causes = std::iter::successors(Some(outermost), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// The message about an Envoy that responds with this text and closes the connection.
    async fn message(text: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            assert_ne!(stream.read(&mut request).await.unwrap(), 0, "bytes of the request");
            stream.write_all(text.as_bytes()).await.unwrap();
        });
        let error = Admin::new(address).get("/ready").await.unwrap_err();
        error.to_string().replace(&address.to_string(), "ADDRESS")
    }

    #[tokio::test]
    async fn what_goes_wrong_is_said_with_address_and_reason() {
        for (text, reason) in [
            ("", "connection closed before message completed"),
            ("SSH-2.0-OpenSSH\r\n\r\n", "invalid HTTP version parsed"),
            (
                "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
                "503 Service Unavailable for /ready",
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\n",
                "end of file before message length reached",
            ),
        ] {
            let expected = format!("Envoy does not answer on its admin address ADDRESS: {reason}");
            assert_eq!(message(text).await, expected, "{text}");
        }
    }
}
