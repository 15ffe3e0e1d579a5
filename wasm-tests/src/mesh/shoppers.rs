//! Users who come to a shop and fill a cart until they are stopped, and what they met.

use browser::load::{Connections, Flip, LoadProfile, Record, Report, run};
use browser::{Kind, User, Visit};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::{JoinError, JoinHandle};

use crate::scenario::HOST;

/// Users who come at the same time.
const PARTY: usize = 40;
/// Of them with a request in flight at the same time, where they share connections.
const FEW: usize = 8;
/// The requests of each: tea into the cart, then a look at it again and again.
const ROUNDS: usize = 6;

/// Users who come and shop until they are stopped. Each one keeps its cookies; nobody comes back.
#[derive(Debug)]
pub struct Shoppers {
    stop: Arc<AtomicBool>,
    task: JoinHandle<ShopperReport>,
}

/// What users met.
#[derive(Clone, Debug, Default)]
pub struct ShopperReport {
    /// Users who came.
    pub users: usize,
    pub requests: usize,
    /// The responses of the canary, `v2`.
    pub canary_responses: u64,
    /// Users with a response that was not 200, or without one.
    pub failed_users: usize,
    /// The versions of such responses.
    pub failed_on: BTreeSet<String>,
    /// Users whose cart was lost.
    pub lost: usize,
    /// Users whose cart was lost though their session was not moved.
    pub lost_in_place: usize,
    /// Moves of sessions. A user whose cart could not be filled has none, and is decided again by the weight.
    pub flips: Vec<Flip>,
}

impl Shoppers {
    /// Behind a gateway, few at the same time, who share connections.
    pub fn start(gateway: SocketAddr) -> Self {
        Self::start_with(gateway, FEW, Connections::PerWorker)
    }

    /// The same, all of a party at the same time and each on a connection of its own: nobody waits for a response that another one waits for.
    pub fn start_apart(gateway: SocketAddr) -> Self {
        Self::start_with(gateway, PARTY, Connections::PerUser)
    }

    fn start_with(gateway: SocketAddr, concurrency: usize, connections: Connections) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            let visit = Arc::new(|_, round| visit(round));
            let profile =
                LoadProfile { visit, concurrency, connections, ..LoadProfile::navigate("/", ROUNDS) };
            let mut report = ShopperReport::default();
            while !stopped.load(Ordering::Relaxed) {
                let party = (0..PARTY).map(|_| User::http1(gateway, HOST).as_if_tls()).collect();
                report.add(PARTY, &run(party, &profile).await.1);
            }
            report
        });
        Self { stop, task }
    }

    /// Lets nobody come any more, and waits for those who are there.
    ///
    /// # Errors
    ///
    /// If the users' task has panicked.
    pub async fn stop(self) -> Result<ShopperReport, JoinError> {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await
    }
}

/// The request of a user in this round: tea into the cart, then a look at it.
pub(super) fn visit(round: usize) -> Visit {
    match round {
        0 => Visit::new(Kind::Navigate, "/cart/add?item=tea"),
        _ => Visit::new(Kind::Fetch, "/cart"),
    }
}

impl ShopperReport {
    /// Adds what other users met.
    pub(super) fn merge(&mut self, other: Self) {
        self.users += other.users;
        self.requests += other.requests;
        self.canary_responses += other.canary_responses;
        self.failed_users += other.failed_users;
        self.failed_on.extend(other.failed_on);
        self.lost += other.lost;
        self.lost_in_place += other.lost_in_place;
        self.flips.extend(other.flips);
    }

    /// Adds the requests of so many users.
    pub(super) fn add(&mut self, users: usize, report: &Report) {
        let failures = report.failures();
        let failed: BTreeSet<usize> = failures.iter().map(|record| record.user).collect();
        let lost: BTreeSet<usize> = report.lost().iter().map(|record| record.user).collect();
        let flips = report.version_flips();
        let moved: BTreeSet<usize> = flips.iter().map(|flip| flip.user).collect();
        self.users += users;
        self.requests += report.records.len();
        let is_of_canary = |record: &&Record| record.seen.version.as_deref() == Some("v2");
        self.canary_responses += report.records.iter().filter(is_of_canary).count() as u64;
        self.failed_users += failed.len();
        let version = |record: &&Record| record.seen.version.clone().unwrap_or_default();
        self.failed_on.extend(failures.iter().map(version));
        self.lost += lost.len();
        self.lost_in_place += lost.difference(&moved).count();
        let without_session: BTreeSet<usize> =
            failures.iter().filter(|record| record.round == 0).map(|record| record.user).collect();
        self.flips.extend(flips.into_iter().filter(|flip| !without_session.contains(&flip.user)));
    }
}
