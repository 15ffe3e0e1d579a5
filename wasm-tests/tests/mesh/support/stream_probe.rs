//! A gRPC call that streams, watched in the background: proves that long-lived calls live on.

use std::net::SocketAddr;

use demo_shop::proto::WatchRequest;
use demo_shop::proto::pod_client::PodClient;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Context, Poll, Service};

/// An open call of the shop's `Watch`.
pub(crate) struct Ticks {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<u64, Status>>,
}

impl Ticks {
    /// Opens it at this host of a proxy, and returns with the first tick.
    pub(crate) async fn watch(proxy: SocketAddr, host: &str) -> Result<Self, Status> {
        let tcp = TcpStream::connect(proxy).await?;
        let (sender, connection) =
            handshake(TokioExecutor::new(), TokioIo::new(tcp)).await.map_err(unavailable)?;
        tokio::spawn(connection);
        let origin = format!("http://{host}").parse().map_err(unavailable)?;
        let mut client = PodClient::with_origin(Caller(sender), origin);
        let mut stream = client.watch(WatchRequest { every_ms: 20 }).await?.into_inner();
        stream.message().await?.ok_or_else(ended)?;
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut last = 1;
            loop {
                tokio::select! {
                    _ = &mut stopped => return Ok(last),
                    tick = stream.message() => match tick? {
                        Some(tick) if tick.number == last + 1 => last = tick.number,
                        Some(tick) => return Err(Status::data_loss(format!("{tick:?} after {last}"))),
                        None => return Err(ended()),
                    },
                }
            }
        });
        Ok(Self { stop, task })
    }

    /// Ends the call; answers how many ticks came, all in order, or why it had ended before.
    pub(crate) async fn stop(self) -> Result<u64, Status> {
        // Fails only when the task has ended with an error, which the next line reports.
        let _ = self.stop.send(());
        self.task.await.map_err(|error| Status::internal(error.to_string()))?
    }
}

fn ended() -> Status {
    Status::aborted("the stream has ended")
}

fn unavailable(error: impl std::error::Error) -> Status {
    Status::unavailable(error.to_string())
}

/// One HTTP/2 connection, for requests to any host.
struct Caller(SendRequest<Body>);

impl Service<Request<Body>> for Caller {
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
