//! One HTTP/2 connection to an address, for calls of gRPC under any host.

use std::net::SocketAddr;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Context, Poll, Service};

/// As large as Envoy's: with HTTP's own 64 kB a large message would wait for each of its parts.
const WINDOW: u32 = 16 << 20;

/// A connection that is open until it is dropped.
#[derive(Debug)]
pub struct Connection(SendRequest<Body>);

impl Connection {
    /// Opens it, without TLS.
    pub async fn open(address: SocketAddr) -> Result<Self, Status> {
        let tcp = TcpStream::connect(address).await?;
        let mut builder = Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let opened = builder.handshake(TokioIo::new(tcp)).await;
        let (sender, connection) = opened.map_err(|error| Status::unavailable(error.to_string()))?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }
}

impl Service<Request<Body>> for Connection {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
