//! One kept-alive connection, HTTP/1.1 or HTTP/2 with prior knowledge, that notices when the server has closed it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ClientError;
use super::response::Response;

/// Longer than anything that a test waits for on purpose.
const DEADLINE: Duration = Duration::from_secs(30);

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 with keep-alive.
    Http1,
    /// HTTP/2 without TLS and without upgrade ("h2c prior knowledge").
    Http2,
}

/// A connection, opened at the first request and again when the server has closed it.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    protocol: Protocol,
    sender: Option<Sender>,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// A connection that speaks this protocol; nothing is opened yet.
    pub fn new(address: SocketAddr, protocol: Protocol) -> Self {
        Self { address, protocol, sender: None }
    }

    /// Speaks HTTP/1.1.
    pub fn http1(address: SocketAddr) -> Self {
        Self::new(address, Protocol::Http1)
    }

    /// Speaks HTTP/2.
    pub fn http2(address: SocketAddr) -> Self {
        Self::new(address, Protocol::Http2)
    }

    /// An unopened connection to the same server.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.address, self.protocol)
    }

    /// Where it leads.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes it; the next request opens a new one, which does not count as reopened.
    pub fn close(&mut self) {
        self.sender = None;
    }

    /// Sends a request and reads the whole response. A `Host` header becomes `:authority` in HTTP/2.
    ///
    /// A connection that the server closed *between* requests is opened again ([`Response::reopened`]); one that breaks
    /// *during* a request is an error, as the request may have been lost.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response, ClientError> {
        timeout(DEADLINE, self.exchange(request)).await.map_err(|_| ClientError::Timeout(DEADLINE))?
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Response, ClientError> {
        let started = Instant::now();
        let reopened = self.sender.is_some();
        let (mut sender, reopened) = match self.reusable().await {
            Some(sender) => (sender, false),
            None => (self.open().await?, reopened),
        };
        let response = sender.send(self.address, request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        self.sender = Some(sender);
        let closing = head
            .headers
            .get_all(CONNECTION)
            .iter()
            .any(|value| value.as_bytes().eq_ignore_ascii_case(b"close"));
        Ok(Response {
            status: head.status.as_u16(),
            protocol: head.version,
            headers: head.headers,
            body,
            reopened,
            closing,
            elapsed: started.elapsed(),
        })
    }

    async fn reusable(&mut self) -> Option<Sender> {
        let mut sender = self.sender.take()?;
        sender.is_open().await.then_some(sender)
    }

    async fn open(&self) -> Result<Sender, ClientError> {
        let stream = TcpStream::connect(self.address)
            .await
            .map_err(|source| ClientError::Connect { address: self.address, source })?;
        stream.set_nodelay(true)?;
        let io = TokioIo::new(stream);
        // The error of a broken connection reaches its sender, and with it the waiting request.
        match self.protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Ok(Sender::Http1(sender))
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Ok(Sender::Http2(sender))
            }
        }
    }
}

impl Sender {
    async fn is_open(&mut self) -> bool {
        match self {
            Self::Http1(sender) => sender.ready().await.is_ok(),
            Self::Http2(sender) => sender.ready().await.is_ok() && !sender.is_closed(),
        }
    }

    async fn send(
        &mut self,
        address: SocketAddr,
        mut request: Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, ClientError> {
        if !request.headers().contains_key(HOST) {
            let host = HeaderValue::try_from(address.to_string()).map_err(http::Error::from)?;
            request.headers_mut().insert(HOST, host);
        }
        match self {
            Self::Http1(sender) => Ok(sender.send_request(request).await?),
            Self::Http2(sender) => Ok(sender.send_request(with_authority(request)?).await?),
        }
    }
}

/// HTTP/2 takes the authority from an absolute URI.
fn with_authority(mut request: Request<Full<Bytes>>) -> Result<Request<Full<Bytes>>, ClientError> {
    let Some(host) = request.headers_mut().remove(HOST) else { return Ok(request) };
    let path = request.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let uri = Uri::builder().scheme("http").authority(host.as_bytes()).path_and_query(path).build()?;
    *request.uri_mut() = uri;
    Ok(request)
}
