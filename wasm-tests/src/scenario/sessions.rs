//! Live sessions with carts in the memory of one pod: whatever changes, each is answered there, and loses nothing.

use std::fmt;
use std::sync::Arc;

use http::Method;
use tokio::task::JoinError;

use super::crowd::Crowd;
use crate::client::load::{Plan, Report, Seen, run};
use crate::client::{Answer, Kind, User, Visit};

/// Of every so many sessions one logs in when asked to, which gives it another session id.
const LOGIN: usize = 10;

/// Users with tea in their carts, and where each lives.
#[derive(Debug, Default)]
pub struct Sessions {
    users: Vec<User>,
    homes: Vec<Seen>,
}

/// A part of the sessions, on the move.
#[derive(Debug)]
pub struct Moving {
    crowd: Crowd,
    homes: Vec<Seen>,
}

/// What was wrong with some answers; empty is good.
#[derive(Default, PartialEq, Eq)]
pub struct Faults {
    /// No answer, or another status than 200.
    pub failed: Vec<String>,
    /// Another version or pod than the session's, or a cart without its tea.
    pub strayed: Vec<String>,
    /// Connections that the proxy closed, or said that it would.
    pub closed: usize,
}

/// A few of each, and how many there are: a failed test says what is wrong, not a thousand times.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failed, strayed, closed } = self;
        let some = |all: &Vec<String>| (all.len(), all.iter().take(5).cloned().collect::<Vec<_>>());
        let mut fields = f.debug_struct("Faults");
        fields
            .field("failed", &some(failed))
            .field("strayed", &some(strayed))
            .field("closed", closed)
            .finish()
    }
}

impl Sessions {
    /// These users put tea into carts; answers how many of them on `v2`, and what was wrong with their second request.
    pub async fn begin(&mut self, users: Vec<User>) -> (u64, Faults) {
        let visit = |_, round| match round {
            0 => Visit::new(Kind::Navigate, "/cart/add?item=tea"),
            _ => Visit::new(Kind::Fetch, "/cart"),
        };
        let plan = Plan { visit: Arc::new(visit), read: with_tea, ..Plan::navigate("/", 2) };
        let (users, report) = run(users, &plan).await;
        let first = report.records.iter().filter(|record| record.round == 0);
        let homes: Vec<Seen> = first.map(|record| Seen { lost: false, ..record.seen.clone() }).collect();
        let faults = faults(&report, &homes);
        self.users.extend(users);
        self.homes.extend(homes);
        (report.users_on("v2"), faults)
    }

    /// All ask for their carts, twice; with logins, some log in before.
    pub async fn come_back(&mut self, with_logins: bool) -> Faults {
        let (users, report) = run(std::mem::take(&mut self.users), &visits(with_logins, 2)).await;
        self.users = users;
        faults(&report, &self.homes)
    }

    /// The latest of them, at most this many, ask again and again until [`Sessions::settle`].
    pub fn set_out(&mut self, count: usize) -> Moving {
        let staying = self.users.len().saturating_sub(count);
        let (users, homes) = (self.users.split_off(staying), self.homes.split_off(staying));
        Moving { crowd: Crowd::start(users, Plan { concurrency: 2, ..visits(false, 5) }), homes }
    }

    /// Calls back those who set out.
    ///
    /// Fails only when a request panicked.
    pub async fn settle(&mut self, moving: Moving) -> Result<Faults, JoinError> {
        let (users, report) = moving.crowd.stop().await?;
        let faults = faults(&report, &moving.homes);
        self.users.extend(users);
        self.homes.extend(moving.homes);
        Ok(faults)
    }

    /// Takes those in who live elsewhere.
    pub fn join(&mut self, others: Self) {
        self.users.extend(others.users);
        self.homes.extend(others.homes);
    }

    /// Takes out those who live on a version.
    #[must_use]
    pub fn leave(&mut self, version: &str) -> Self {
        let all = std::mem::take(&mut self.users).into_iter().zip(std::mem::take(&mut self.homes));
        let lives_there = |home: &Seen| home.version.as_deref() == Some(version);
        let (gone, staying): (Vec<_>, Vec<_>) = all.partition(|(_, home)| lives_there(home));
        (self.users, self.homes) = staying.into_iter().unzip();
        let (users, homes) = gone.into_iter().unzip();
        Self { users, homes }
    }

    /// All shop again after their version has gone: how many find on `stable` that their cart is lost, and what is wrong
    /// otherwise. They live there from now on.
    pub async fn begin_again(&mut self, stable: &str) -> (usize, Faults) {
        let plan = Plan::navigate("/cart/add?item=tea", 1);
        let (users, report) = run(std::mem::take(&mut self.users), &plan).await;
        let is_new = |seen: &Seen| seen.lost && seen.version.as_deref() == Some(stable);
        let lost = report.records.iter().filter(|record| is_new(&record.seen)).count();
        self.homes =
            report.records.iter().map(|record| Seen { lost: false, ..record.seen.clone() }).collect();
        self.users = users;
        let failed = report.failures().iter().map(|record| format!("{record:?}")).collect();
        let Faults { strayed, failed: later, closed } = self.come_back(false).await;
        let faults = Faults { failed, strayed, closed: closed + report.closed() };
        (lost, Faults { failed: [faults.failed, later].concat(), ..faults })
    }

    /// A session of this version, the latest.
    pub fn on(&self, version: &str) -> Option<&User> {
        let at = self.homes.iter().rposition(|home| home.version.as_deref() == Some(version))?;
        self.users.get(at)
    }

    /// How many there are at home.
    pub fn count(&self) -> usize {
        self.users.len()
    }
}

impl Faults {
    /// Without what a proxy that goes away cannot help: a connection that ends between two requests.
    #[must_use]
    pub fn but_closed(self) -> Self {
        Self { closed: 0, ..self }
    }
}

fn visits(with_logins: bool, rounds: usize) -> Plan {
    let visit = move |user: usize, round: usize| match (with_logins, round, user % LOGIN) {
        (true, 0, 0) => Visit::new(Kind::Fetch, "/login?user=ada").method(Method::POST),
        _ => Visit::new(Kind::Fetch, "/cart"),
    };
    Plan { visit: Arc::new(visit), read: with_tea, ..Plan::navigate("/cart", rounds) }
}

/// A cart without its tea is lost, whatever the pod says about the session.
fn with_tea(answer: &Answer) -> Seen {
    let seen = Seen::by_shop(answer);
    let cart = answer.json().get("cart").cloned();
    Seen { lost: seen.lost || cart != Some(serde_json::json!(["tea"])), ..seen }
}

fn faults(report: &Report, homes: &[Seen]) -> Faults {
    let answered = report.records.iter().filter(|record| record.status == 200);
    let strays = answered.filter(|record| homes.get(record.user) != Some(&record.seen));
    Faults {
        failed: report.failures().iter().map(|record| format!("{record:?}")).collect(),
        strayed: strays.map(|record| format!("{:?}: {record:?}", homes.get(record.user))).collect(),
        closed: report.closed(),
    }
}
