//! Accepts a pod's connections, HTTP/1.1 and HTTP/2 by prior knowledge on one port, and ends them: kindly or at once.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};

use crate::life::{Life, Stopped};
use crate::response::Body;

/// Requests with this many headers must reach a pod (hyper's own limit is 100).
const MAX_HEADERS: usize = 1_000;
/// So must requests with several cookies of 8 KB (hyper's own limit in HTTP/2 is 16 KB).
const MAX_HEADER_BYTES: u32 = 256 * 1024;
/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What answers the requests of a pod.
pub(crate) trait Answering: Send + Sync + 'static {
    fn life(&self) -> &Arc<Life>;

    fn answer(self: Arc<Self>, request: Request<Incoming>) -> impl Future<Output = Response<Body>> + Send;
}

/// A pod that serves. Dropping it kills it.
#[derive(Debug)]
pub struct RunningPod {
    local_addr: SocketAddr,
    life: Arc<Life>,
}

impl RunningPod {
    /// Serves on `listener` until it is stopped, killed or dropped.
    pub(crate) fn start(listener: TcpListener, pod: Arc<impl Answering>) -> io::Result<Self> {
        let local_addr = listener.local_addr()?;
        let life = Arc::clone(pod.life());
        life.tasks.spawn(accept(listener, pod));
        Ok(Self { local_addr, life })
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Stops as a pod should: its readiness fails and it serves on for the linger time; then accepts no more, answers
    /// what is in flight within the configured grace, closes idle connections, sends a close frame on `WebSocket`s,
    /// ends gRPC streams with status OK.
    pub async fn stop(self) -> Stopped {
        self.life.stop().await
    }

    /// Dies as a crashed pod does: every connection is cut, whatever is in flight on it.
    pub async fn kill(self) {
        self.life.kill().await;
    }
}

impl Drop for RunningPod {
    fn drop(&mut self) {
        self.life.killed.cancel();
    }
}

async fn accept(listener: TcpListener, pod: Arc<impl Answering>) {
    let builder = http_builder();
    let life = Arc::clone(pod.life());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = life.stopping.cancelled() => return,
            () = life.killed.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                life.tasks.spawn(connection(stream, builder.clone(), Arc::clone(&pod)));
            }
            // Errors of `accept` concern one connection, or pass (no descriptor left).
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

async fn connection(stream: TcpStream, builder: Builder<TokioExecutor>, pod: Arc<impl Answering>) {
    // Small chunks must leave at once; a socket that refuses works, only later.
    let _ = stream.set_nodelay(true);
    let life = Arc::clone(pod.life());
    let service = service_fn(move |request| {
        let pod = Arc::clone(&pod);
        async move { Ok::<_, Infallible>(pod.answer(request).await) }
    });
    let serving = async {
        let mut serving = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        // The error of a broken connection is dropped: the client reports it.
        tokio::select! {
            _ = serving.as_mut() => {}
            () = life.stopping.cancelled() => {
                serving.as_mut().graceful_shutdown();
                let _ = serving.await;
            }
        }
    };
    life.killed.run_until_cancelled(serving).await;
}

fn http_builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // No time limit on idle connections: a close from this side races with a proxy's next request.
    builder.http1().max_headers(MAX_HEADERS).header_read_timeout(None);
    builder.http2().max_header_list_size(MAX_HEADER_BYTES).enable_connect_protocol();
    builder
}
