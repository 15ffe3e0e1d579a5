//! Many users at once, bounded in number, with one record for each response.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::connection::Connection;
use super::error::ClientError;
use super::response::Response;
use super::user::{Kind, User, Visit};

/// Whose connections are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Each user's own: as many sockets as users.
    PerUser,
    /// One for each worker: users take turns on it, as behind a proxy.
    PerWorker,
}

/// How the users are driven.
#[derive(Clone)]
pub struct LoadProfile {
    /// Requests per user.
    pub rounds: usize,
    /// Requests in flight at the same time.
    pub concurrency: usize,
    /// Whose connections are used.
    pub connections: Connections,
    /// The request of this user (by index) in this round.
    pub visit: Arc<dyn Fn(usize, usize) -> Visit + Send + Sync>,
    /// The version and pod that sent a response.
    pub read: fn(&Response) -> ServedBy,
}

impl LoadProfile {
    /// Navigations to `path`, eight in flight, on the workers' connections; answers are the demo shop's.
    pub fn navigate(path: &'static str, rounds: usize) -> Self {
        Self {
            rounds,
            concurrency: 8,
            connections: Connections::PerWorker,
            visit: Arc::new(move |_, _| Visit::new(Kind::Navigate, path)),
            read: ServedBy::by_shop,
        }
    }
}

/// The version and pod that sent a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedBy {
    /// The version that answered.
    pub version: Option<String>,
    /// The process that answered.
    pub pod: Option<String>,
    /// The process did not know the session that it was shown: a flip of version or pod.
    pub lost: bool,
}

impl ServedBy {
    /// From the demo shop's headers (`x-shop-version`, `x-shop-pod`, `x-shop-session`).
    pub fn by_shop(response: &Response) -> Self {
        let text = |name| response.header(name).map(str::to_owned);
        Self {
            version: text("x-shop-version"),
            pod: text("x-shop-pod"),
            lost: response.header("x-shop-session") == Some("lost"),
        }
    }
}

/// One request's outcome.
#[derive(Clone, Debug)]
pub struct Record {
    /// Index of the user.
    pub user: usize,
    /// Round, from 0.
    pub round: usize,
    /// HTTP status; 0 when there was no response.
    pub status: u16,
    /// The version and pod of the response.
    pub seen: ServedBy,
    /// The connection had been closed by the server since the last request.
    pub reopened: bool,
    /// The server announced that it closes the connection.
    pub closing: bool,
    /// Why there was no response.
    pub error: Option<String>,
    /// From sending to the last byte; zero when there was no response.
    pub elapsed: Duration,
}

/// All outcomes, by user and round.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One for each request.
    pub records: Vec<Record>,
}

/// A user with two consecutive responses from different versions or pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// Index of the user.
    pub user: usize,
    /// Round of the second response.
    pub round: usize,
    /// The version and pod before.
    pub from: ServedBy,
    /// The version and pod afterwards.
    pub to: ServedBy,
}

impl Report {
    /// Requests without a response, or with another status than 200.
    pub fn failures(&self) -> Vec<&Record> {
        self.records.iter().filter(|record| record.status != 200).collect()
    }

    /// Answers of a process that did not know the user's session.
    pub fn lost(&self) -> Vec<&Record> {
        self.records.iter().filter(|record| record.seen.lost).collect()
    }

    /// Connections that the server closed, or announced to close.
    pub fn closed(&self) -> usize {
        self.records.iter().filter(|record| record.reopened || record.closing).count()
    }

    /// Users whose last response came from this version.
    pub fn users_on(&self, version: &str) -> u64 {
        let last = self.last_versions();
        last.values().filter(|found| found.as_deref() == Some(version)).count() as u64
    }

    /// The version of each user's last response.
    pub fn last_versions(&self) -> BTreeMap<usize, Option<String>> {
        self.records.iter().map(|record| (record.user, record.seen.version.clone())).collect()
    }

    /// Changes of version between one response of a user and the next.
    pub fn version_flips(&self) -> Vec<Flip> {
        self.flips(|seen| seen.version.clone())
    }

    /// Changes of pod between one response of a user and the next.
    pub fn pod_flips(&self) -> Vec<Flip> {
        self.flips(|seen| seen.pod.clone())
    }

    /// Appends a later run of the same users; its rounds continue this one's.
    pub fn append(&mut self, later: Self) {
        let rounds = self.records.iter().map(|record| record.round + 1).max().unwrap_or_default();
        self.records.extend(later.records.into_iter().map(|mut record| {
            record.round += rounds;
            record
        }));
        self.records.sort_by_key(|record| (record.user, record.round));
    }

    fn flips(&self, of: impl Fn(&ServedBy) -> Option<String>) -> Vec<Flip> {
        // Responses without a version or pod are failures, not flips.
        let named: Vec<&Record> = self.records.iter().filter(|record| of(&record.seen).is_some()).collect();
        let pairs = named.iter().zip(named.iter().skip(1));
        pairs
            .filter(|(one, next)| one.user == next.user && of(&one.seen) != of(&next.seen))
            .map(|(one, next)| Flip {
                user: next.user,
                round: next.round,
                from: one.seen.clone(),
                to: next.seen.clone(),
            })
            .collect()
    }
}

/// Runs these users through all rounds; returns them, in order, with the report.
///
/// Each user's requests are sequential; users are not synchronised. Ends after `users × rounds` requests.
pub async fn run(users: Vec<User>, plan: &LoadProfile) -> (Vec<User>, Report) {
    let workers = plan.concurrency.max(1);
    let mut shares: Vec<Vec<(usize, User)>> = (0..workers).map(|_| Vec::new()).collect();
    for (index, user) in users.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(index % workers) {
            share.push((index, user));
        }
    }
    let mut running = JoinSet::new();
    for share in shares {
        running.spawn(work(share, plan.clone()));
    }
    let mut users = BTreeMap::new();
    let mut report = Report::default();
    for (share, records) in running.join_all().await {
        users.extend(share);
        report.records.extend(records);
    }
    report.records.sort_by_key(|record| (record.user, record.round));
    (users.into_values().collect(), report)
}

async fn work(mut users: Vec<(usize, User)>, plan: LoadProfile) -> (Vec<(usize, User)>, Vec<Record>) {
    let mut shared = users.first_mut().map(|(_, user)| user.connection().another());
    let mut records = Vec::with_capacity(users.len() * plan.rounds);
    for round in 0..plan.rounds {
        for (index, user) in &mut users {
            let visit = (plan.visit)(*index, round);
            let lent = shared.as_mut().filter(|_| plan.connections == Connections::PerWorker);
            let result = send(user, &visit, lent).await;
            records.push(record((*index, round), result, plan.read));
        }
    }
    (users, records)
}

async fn send(
    user: &mut User,
    visit: &Visit,
    lent: Option<&mut Connection>,
) -> Result<Response, ClientError> {
    let Some(connection) = lent else { return user.send(visit).await };
    user.swap_connection(connection);
    let result = user.send(visit).await;
    user.swap_connection(connection);
    result
}

fn record(
    (user, round): (usize, usize),
    result: Result<Response, ClientError>,
    read: fn(&Response) -> ServedBy,
) -> Record {
    let nothing = Record {
        user,
        round,
        status: 0,
        seen: ServedBy::default(),
        reopened: false,
        closing: false,
        error: None,
        elapsed: Duration::ZERO,
    };
    match result {
        Ok(response) => Record {
            status: response.status,
            seen: read(&response),
            reopened: response.reopened,
            closing: response.closing,
            elapsed: response.elapsed,
            ..nothing
        },
        Err(error) => Record { error: Some(error.to_string()), ..nothing },
    }
}
