//! A gRPC call that streams, watched in the background: proves that long-lived calls live on.

use std::net::SocketAddr;

use demo_shop::proto::WatchRequest;
use demo_shop::proto::pod_client::PodClient;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::Status;
use wasm_tests::grpc::Connection;

/// An open call of the shop's `Watch`.
pub(crate) struct Ticks {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<u64, Status>>,
}

impl Ticks {
    /// Opens it at this host of a proxy, and returns with the first tick.
    pub(crate) async fn watch(proxy: SocketAddr, host: &str) -> Result<Self, Status> {
        let origin = format!("http://{host}").parse().map_err(unavailable)?;
        let mut client = PodClient::with_origin(Connection::open(proxy).await?, origin);
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
