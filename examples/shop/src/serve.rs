//! Accepts connections, HTTP/1.1 and HTTP/2 by prior knowledge on one port, and ends them: kindly or at once.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};

use crate::config::ShopConfig;
use crate::http::handle;
use crate::shop::{Inspector, Shop};

/// Requests with this many headers must reach the shop (hyper's own limit is 100).
const MAX_HEADERS: usize = 1_000;
/// So must requests with several cookies of 8 KB (hyper's own limit in HTTP/2 is 16 KB).
const MAX_HEADER_BYTES: u32 = 256 * 1024;
/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Serves a shop on `listener` until the handle is stopped, killed or dropped.
///
/// # Errors
/// When the listener cannot say its address.
///
/// # Panics
/// Outside a tokio runtime.
pub fn serve(listener: TcpListener, config: ShopConfig) -> io::Result<RunningShop> {
    let local_addr = listener.local_addr()?;
    let shop = Arc::new(Shop::new(config));
    shop.life.tasks.spawn(accept(listener, Arc::clone(&shop)));
    Ok(RunningShop { local_addr, shop })
}

/// A shop that serves. Dropping it kills it.
#[derive(Debug)]
pub struct RunningShop {
    local_addr: SocketAddr,
    shop: Arc<Shop>,
}

/// How a stop went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Every request in flight was answered.
    Clean,
    /// The grace was over before that, and what was left was cut.
    Cut,
}

impl RunningShop {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// A look inside, which may outlive the shop.
    pub fn inspector(&self) -> Inspector {
        Inspector(Arc::clone(&self.shop))
    }

    /// Stops as a pod should: accepts no more, answers what is in flight within the configured grace, closes
    /// idle connections, says goodbye on `WebSocket`s.
    pub async fn stop(self) -> Stopped {
        let life = &self.shop.life;
        life.stopping.cancel();
        life.tasks.close();
        if tokio::time::timeout(self.shop.config.grace(), life.tasks.wait()).await.is_ok() {
            return Stopped::Clean;
        }
        life.killed.cancel();
        life.tasks.wait().await;
        Stopped::Cut
    }

    /// Dies as a crashed pod does: every connection is cut, whatever is in flight on it.
    pub async fn kill(self) {
        let life = &self.shop.life;
        life.killed.cancel();
        life.tasks.close();
        life.tasks.wait().await;
    }
}

impl Drop for RunningShop {
    fn drop(&mut self) {
        self.shop.life.killed.cancel();
    }
}

async fn accept(listener: TcpListener, shop: Arc<Shop>) {
    let builder = http_builder();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shop.life.stopping.cancelled() => return,
            () = shop.life.killed.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                shop.life.tasks.spawn(connection(stream, builder.clone(), Arc::clone(&shop)));
            }
            // Errors of `accept` concern one connection, or pass (no descriptor left).
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

async fn connection(stream: TcpStream, builder: Builder<TokioExecutor>, shop: Arc<Shop>) {
    // Small chunks must leave at once; a socket that refuses works, only later.
    let _ = stream.set_nodelay(true);
    let killed = shop.life.killed.clone();
    let stopping = shop.life.stopping.clone();
    let service = service_fn(move |request| handle(Arc::clone(&shop), request));
    let serving = async {
        let mut serving = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        // A broken connection is the client's to report: the shop has nobody to tell.
        tokio::select! {
            _ = serving.as_mut() => {}
            () = stopping.cancelled() => {
                serving.as_mut().graceful_shutdown();
                let _ = serving.await;
            }
        }
    };
    killed.run_until_cancelled(serving).await;
}

fn http_builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // No time limit on idle connections: a close from this side races with a proxy's next request.
    builder.http1().max_headers(MAX_HEADERS).header_read_timeout(None);
    builder.http2().max_header_list_size(MAX_HEADER_BYTES).enable_connect_protocol();
    builder
}
