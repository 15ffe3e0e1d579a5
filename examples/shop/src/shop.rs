//! The state that all requests of one pod share: its names, its sessions, its counters, its life.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::ShopConfig;
use crate::session::{Session, Store};

/// One pod of one version.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) config: ShopConfig,
    pub(crate) store: Store,
    pub(crate) counters: Counters,
    pub(crate) life: Life,
}

/// What happened since the start.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests whose head has arrived, of any kind.
    pub(crate) requests: AtomicU64,
    /// Requests that brought a session cookie unknown here.
    pub(crate) lost: AtomicU64,
    /// `WebSocket`s open now.
    pub(crate) sockets: AtomicU64,
}

/// How a shop ends: `stopping` asks every task to finish what it does, `killed` drops it.
#[derive(Debug, Default)]
pub(crate) struct Life {
    pub(crate) stopping: CancellationToken,
    pub(crate) killed: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Shop {
    pub(crate) fn new(config: ShopConfig) -> Self {
        Self { config, store: Store::default(), counters: Counters::default(), life: Life::default() }
    }

    pub(crate) fn stats(&self) -> Stats {
        let (sessions, carts) = self.store.count();
        Stats {
            sessions,
            carts,
            requests: self.counters.requests.load(Ordering::Relaxed),
            lost: self.counters.lost.load(Ordering::Relaxed),
            sockets: self.counters.sockets.load(Ordering::Relaxed),
        }
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
}

/// Looks into a shop from the test that runs it; stays valid after the shop has stopped.
#[derive(Debug, Clone)]
pub struct Inspector(pub(crate) Arc<Shop>);

impl Inspector {
    /// The figures now.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// A copy of the session with this id (the value of its cookie), when this pod knows it.
    pub fn session(&self, id: &str) -> Option<Session> {
        self.0.store.get(id)
    }
}
