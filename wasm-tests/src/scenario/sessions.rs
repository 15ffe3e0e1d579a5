//! Live sessions with carts in the memory of one pod: whatever changes, each is answered there, and loses nothing.

use std::fmt;
use std::sync::Arc;

use http::Method;
use tokio::task::JoinError;

use super::crowd::Crowd;
use browser::load::{LoadProfile, Report, ServedBy, run};
use browser::{Kind, Response, User, Visit};

/// Of every so many sessions one logs in when asked to, which gives it another session id.
const LOGIN: usize = 10;

/// Users with tea in their carts, and where each lives.
#[derive(Debug, Default)]
pub struct Sessions {
    users: Vec<User>,
    pinned_pods: Vec<ServedBy>,
}

/// A part of the sessions, on the move.
#[derive(Debug)]
pub struct LoadHandle {
    crowd: Crowd,
    pinned_pods: Vec<ServedBy>,
}

/// What was wrong with some answers; empty is good.
#[derive(Default, PartialEq, Eq)]
pub struct Faults {
    /// No response, or another status than 200.
    pub failed: Vec<String>,
    /// Another version or pod than the session's, or a cart without its tea.
    pub moved: Vec<String>,
    /// Connections that the proxy closed, or announced to close.
    pub closed: usize,
}

/// A few of each, and their number: a failed test prints examples, not a thousand lines.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failed, moved, closed } = self;
        let some = |all: &Vec<String>| (all.len(), all.iter().take(5).cloned().collect::<Vec<_>>());
        let mut fields = f.debug_struct("Faults");
        fields.field("failed", &some(failed)).field("moved", &some(moved)).field("closed", closed).finish()
    }
}

impl Sessions {
    /// These users put tea into carts; answers how many of them on `v2`, and what was wrong with their second request.
    pub async fn open(&mut self, users: Vec<User>) -> (u64, Faults) {
        let visit = |_, round| match round {
            0 => Visit::new(Kind::Navigate, "/cart/add?item=tea"),
            _ => Visit::new(Kind::Fetch, "/cart"),
        };
        let plan = LoadProfile { visit: Arc::new(visit), read: with_tea, ..LoadProfile::navigate("/", 2) };
        let (users, report) = run(users, &plan).await;
        let first = report.records.iter().filter(|record| record.round == 0);
        let pinned_pods: Vec<ServedBy> =
            first.map(|record| ServedBy { lost: false, ..record.seen.clone() }).collect();
        let faults = faults(&report, &pinned_pods);
        self.users.extend(users);
        self.pinned_pods.extend(pinned_pods);
        (report.users_on("v2"), faults)
    }

    /// All users request their carts, twice; with logins, some log in before.
    pub async fn verify_all(&mut self, with_logins: bool) -> Faults {
        let (users, report) = run(std::mem::take(&mut self.users), &visits(with_logins, 2)).await;
        self.users = users;
        faults(&report, &self.pinned_pods)
    }

    /// The latest of them, at most this many, ask again and again until [`Sessions::stop_load`].
    pub fn start_load(&mut self, count: usize) -> LoadHandle {
        let staying = self.users.len().saturating_sub(count);
        let (users, pinned_pods) = (self.users.split_off(staying), self.pinned_pods.split_off(staying));
        LoadHandle {
            crowd: Crowd::start(users, LoadProfile { concurrency: 2, ..visits(false, 5) }),
            pinned_pods,
        }
    }

    /// Stops the users who were started.
    ///
    /// Fails only when a request panicked.
    pub async fn stop_load(&mut self, load: LoadHandle) -> Result<Faults, JoinError> {
        let (users, report) = load.crowd.stop().await?;
        let faults = faults(&report, &load.pinned_pods);
        self.users.extend(users);
        self.pinned_pods.extend(load.pinned_pods);
        Ok(faults)
    }

    /// Adds the users of other sessions.
    pub fn merge(&mut self, others: Self) {
        self.users.extend(others.users);
        self.pinned_pods.extend(others.pinned_pods);
    }

    /// Removes and returns the users of a version.
    #[must_use]
    pub fn remove_version(&mut self, version: &str) -> Self {
        let all = std::mem::take(&mut self.users).into_iter().zip(std::mem::take(&mut self.pinned_pods));
        let is_there = |pinned_pod: &ServedBy| pinned_pod.version.as_deref() == Some(version);
        let (gone, staying): (Vec<_>, Vec<_>) = all.partition(|(_, pinned_pod)| is_there(pinned_pod));
        (self.users, self.pinned_pods) = staying.into_iter().unzip();
        let (users, pinned_pods) = gone.into_iter().unzip();
        Self { users, pinned_pods }
    }

    /// All users shop again after their version was removed. Returns how many have lost their cart on `stable`, and
    /// other faults. `stable` is their version from now on.
    pub async fn reopen(&mut self, stable: &str) -> (usize, Faults) {
        let plan = LoadProfile::navigate("/cart/add?item=tea", 1);
        let (users, report) = run(std::mem::take(&mut self.users), &plan).await;
        let is_new = |seen: &ServedBy| seen.lost && seen.version.as_deref() == Some(stable);
        let lost = report.records.iter().filter(|record| is_new(&record.seen)).count();
        self.pinned_pods =
            report.records.iter().map(|record| ServedBy { lost: false, ..record.seen.clone() }).collect();
        self.users = users;
        let failed = report.failures().iter().map(|record| format!("{record:?}")).collect();
        let Faults { moved, failed: later, closed } = self.verify_all(false).await;
        let faults = Faults { failed, moved, closed: closed + report.closed() };
        (lost, Faults { failed: [faults.failed, later].concat(), ..faults })
    }

    /// A session of this version, the latest.
    pub fn on(&self, version: &str) -> Option<&User> {
        let at =
            self.pinned_pods.iter().rposition(|pinned_pod| pinned_pod.version.as_deref() == Some(version))?;
        self.users.get(at)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.users.len()
    }
}

impl Faults {
    /// Without the unavoidable effects of a terminating proxy: a connection that is closed between two requests.
    #[must_use]
    pub fn but_closed(self) -> Self {
        Self { closed: 0, ..self }
    }
}

fn visits(with_logins: bool, rounds: usize) -> LoadProfile {
    let visit = move |user: usize, round: usize| match (with_logins, round, user % LOGIN) {
        (true, 0, 0) => Visit::new(Kind::Fetch, "/login?user=ada").method(Method::POST),
        _ => Visit::new(Kind::Fetch, "/cart"),
    };
    LoadProfile { visit: Arc::new(visit), read: with_tea, ..LoadProfile::navigate("/cart", rounds) }
}

/// A cart without its tea is lost, whatever session state the pod reports.
fn with_tea(response: &Response) -> ServedBy {
    let seen = ServedBy::by_shop(response);
    let cart = response.json().get("cart").cloned();
    ServedBy { lost: seen.lost || cart != Some(serde_json::json!(["tea"])), ..seen }
}

fn faults(report: &Report, pinned_pods: &[ServedBy]) -> Faults {
    let answered = report.records.iter().filter(|record| record.status == 200);
    let moved = answered.filter(|record| pinned_pods.get(record.user) != Some(&record.seen));
    Faults {
        failed: report.failures().iter().map(|record| format!("{record:?}")).collect(),
        moved: moved.map(|record| format!("{:?}: {record:?}", pinned_pods.get(record.user))).collect(),
        closed: report.closed(),
    }
}
