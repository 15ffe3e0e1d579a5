//! The shop: what all requests of one pod share, and a handle on it while it serves.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use tokio::net::TcpListener;

use crate::config::ShopConfig;
use crate::grpc::Calls;
use crate::hop::Hop;
use crate::life::{Life, Stopped};
use crate::serve::RunningPod;
use crate::session::{Session, Store};

/// One pod of one version.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) config: ShopConfig,
    pub(crate) store: Store,
    pub(crate) counters: Counters,
    pub(crate) life: Arc<Life>,
    pub(crate) hop: Option<Hop>,
    pub(crate) calls: Calls,
    pub(crate) started: Instant,
}

/// What happened since the start.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests whose head has arrived, of any kind.
    pub(crate) requests: AtomicU64,
    /// Requests that brought a session cookie unknown here.
    pub(crate) lost: AtomicU64,
    /// Pages that were asked for, where a share of them fails.
    pub(crate) pages: AtomicU64,
    /// The same where a share of them hangs.
    pub(crate) hanging_pages: AtomicU64,
    /// The same where a share of them is slow.
    pub(crate) slow_pages: AtomicU64,
    /// The same where a share of them forgets its session.
    pub(crate) forgetful_pages: AtomicU64,
    /// The same for clients without a session.
    pub(crate) new_pages: AtomicU64,
    /// `WebSocket`s open now.
    pub(crate) sockets: AtomicU64,
}

impl Shop {
    pub(crate) fn new(config: ShopConfig) -> Self {
        let life = Arc::new(Life::new(config.pod_config()));
        let hop = config.catalog.as_ref().map(Hop::new);
        let calls = Calls::new("shop", config.pod_config(), &life, hop.clone());
        Self {
            config,
            store: Store::default(),
            counters: Counters::default(),
            life,
            hop,
            calls,
            started: Instant::now(),
        }
    }

    /// Whether the next page is one of those that fail.
    pub(crate) fn fails(&self) -> bool {
        self.is_next_of(self.config.fail_percent, &self.counters.pages)
    }

    /// Whether the next page is one of those that are never answered.
    pub(crate) fn hangs(&self) -> bool {
        self.is_next_of(self.config.hang_percent, &self.counters.hanging_pages)
    }

    /// Whether the next page is one of those that are answered later.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_next_of(self.config.slow_percent, &self.counters.slow_pages)
    }

    /// Whether the next page is one of those that forget the session that was brought.
    pub(crate) fn forgets(&self) -> bool {
        self.is_next_of(self.config.forget_percent, &self.counters.forgetful_pages)
    }

    /// Whether the next page for a client without a session is one of those that fail.
    pub(crate) fn fails_new(&self) -> bool {
        self.is_next_of(self.config.fail_new_percent, &self.counters.new_pages)
    }

    /// Whether the next page is one of a share, by chance or in turn.
    fn is_next_of(&self, percent: u8, pages: &AtomicU64) -> bool {
        if self.config.random_faults { fastrand::u8(..100) < percent } else { is_next_of(percent, pages) }
    }

    pub(crate) fn stats(&self) -> Stats {
        let (sessions, carts) = self.store.count();
        Stats {
            sessions,
            carts,
            requests: self.counters.requests.load(Ordering::Relaxed),
            lost: self.counters.lost.load(Ordering::Relaxed),
            sockets: self.counters.sockets.load(Ordering::Relaxed),
            streams: self.calls.open(),
        }
    }
}

/// Whether the next page is one of a share: spread evenly over all, so that so many of a hundred are.
pub(crate) fn is_next_of(percent: u8, pages: &AtomicU64) -> bool {
    let share = u64::from(percent);
    let page = pages.fetch_add(1, Ordering::Relaxed);
    share > 0 && (page + 1) * share / 100 > page * share / 100
}

/// Serves a shop on `listener` until the handle is stopped, killed or dropped.
///
/// # Errors
/// When the listener cannot say its address.
///
/// # Panics
/// Outside a tokio runtime.
pub fn serve(listener: TcpListener, config: ShopConfig) -> io::Result<RunningShop> {
    let shop = Arc::new(Shop::new(config));
    let pod = RunningPod::start(listener, Arc::clone(&shop))?;
    Ok(RunningShop { pod, shop })
}

/// A shop that serves. Dropping it kills it.
#[derive(Debug)]
pub struct RunningShop {
    pod: RunningPod,
    shop: Arc<Shop>,
}

impl RunningShop {
    pub fn local_addr(&self) -> SocketAddr {
        self.pod.local_addr()
    }

    /// A look inside, which may outlive the shop.
    pub fn inspector(&self) -> Inspector {
        Inspector(Arc::clone(&self.shop))
    }

    /// Stops it, see [`RunningPod::stop`].
    pub async fn stop(self) -> Stopped {
        self.pod.stop().await
    }

    /// Kills it, see [`RunningPod::kill`].
    pub async fn kill(self) {
        self.pod.kill().await;
    }
}

/// The figures of one pod, as `GET /stats` shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Sessions that live now.
    pub sessions: usize,
    /// Sessions among them with something in the cart.
    pub carts: usize,
    /// Requests since the start, of any kind.
    pub requests: u64,
    /// Requests since the start that brought a session cookie unknown here: flips, or sessions that ended.
    pub lost: u64,
    /// `WebSocket`s open now.
    pub sockets: u64,
    /// gRPC streams open now.
    pub streams: u64,
}

/// Looks into a shop from the test that runs it; stays valid after the shop has stopped.
#[derive(Debug, Clone)]
pub struct Inspector(Arc<Shop>);

impl Inspector {
    /// The figures now.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// A copy of the session with this id (the value of its cookie), if this pod has it.
    pub fn session(&self, id: &str) -> Option<Session> {
        self.0.store.get(id)
    }
}
