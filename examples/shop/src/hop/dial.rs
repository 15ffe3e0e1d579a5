//! Connections to where the catalog is: where its name leads, or to an address that takes the name's place.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

const HTTP_PORT: u16 = 80;

/// Opens connections for a client.
#[derive(Debug, Clone)]
pub(super) struct Dial {
    /// The address to connect to instead of resolving a name; `Host` and `:authority` stay the name.
    pub(super) instead: Option<SocketAddr>,
}

impl Service<Uri> for Dial {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<TcpStream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let instead = self.instead;
        Box::pin(async move {
            let stream = if let Some(address) = instead {
                TcpStream::connect(address).await?
            } else {
                // The brackets of an IPv6 address belong to the URI.
                let host = to.host().unwrap_or_default().trim_matches(['[', ']']);
                TcpStream::connect((host, to.port_u16().unwrap_or(HTTP_PORT))).await?
            };
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}
