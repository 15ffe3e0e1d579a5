//! Users who take their time: each stays for a while, so that what happens meanwhile happens to a session.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use browser::User;
use browser::load::{Connections, LoadProfile, Report, run};
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use super::shoppers::{ShopperReport, visit};
use crate::scenario::HOST;

/// How many come, and how long they stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Users who are there at a time; for one who leaves another comes.
    pub users: u32,
    /// The requests of each: tea into the cart, then a look at it again and again.
    pub rounds: u32,
    /// From a response to the next request, in the mean; each pause is half to one and a half of it.
    pub pause: Duration,
}

/// Users who come and shop until they are stopped, each on a connection of its own.
#[derive(Debug)]
pub struct PacedShoppers {
    stop: Arc<AtomicBool>,
    seats: JoinSet<PacedReport>,
}

/// What users met, and when.
#[derive(Clone, Debug, Default)]
pub struct PacedReport {
    /// What users met.
    pub met: ShopperReport,
    /// Each response of a session from another version than its last one: when, and from which.
    pub moves: Vec<(Instant, String)>,
    /// The first and the last response of the canary, `v2`.
    pub canary: Option<(Instant, Instant)>,
}

impl PacedShoppers {
    /// Behind a gateway. From the start so many are there as later, some of whom leave soon.
    pub fn start(gateway: SocketAddr, pace: Pace) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut seats = JoinSet::new();
        for seat in 0..pace.users {
            seats.spawn(Seat { gateway, pace, number: seat, stop: Arc::clone(&stop) }.taken());
        }
        Self { stop, seats }
    }

    /// Lets those who are there finish their request, and nobody come any more.
    ///
    /// # Errors
    ///
    /// If a user's task has panicked.
    pub async fn stop(mut self) -> Result<PacedReport, JoinError> {
        self.stop.store(true, Ordering::Relaxed);
        let mut report = PacedReport::default();
        while let Some(seat) = self.seats.join_next().await {
            report.merge(seat?);
        }
        Ok(report)
    }
}

/// The place of one user at a time.
struct Seat {
    gateway: SocketAddr,
    pace: Pace,
    number: u32,
    stop: Arc<AtomicBool>,
}

impl Seat {
    /// One user after the other.
    async fn taken(self) -> PacedReport {
        let mut report = PacedReport::default();
        // The first one of each seat has been there for another time, or all would leave at once.
        let mut rounds =
            1 + u64::from(self.pace.rounds) * u64::from(self.number) / u64::from(self.pace.users);
        while !self.stop.load(Ordering::Relaxed) {
            self.user(rounds, &mut report).await;
            rounds = self.pace.rounds.into();
        }
        report
    }

    async fn user(&self, rounds: u64, report: &mut PacedReport) {
        let mut user = vec![User::http1(self.gateway, HOST).as_if_tls()];
        let mut requests = Report::default();
        let mut session = Session::default();
        for round in 0..rounds {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let (back, one) = run(user, &profile(usize::try_from(round).unwrap_or(usize::MAX))).await;
            user = back;
            session.responded(&one, report);
            requests.append(one);
            sleep(pause(self.pace.pause, self.number, round)).await;
        }
        report.met.add(1, &requests);
    }
}

fn profile(round: usize) -> LoadProfile {
    LoadProfile {
        visit: Arc::new(move |_, _| visit(round)),
        concurrency: 1,
        connections: Connections::PerUser,
        ..LoadProfile::navigate("/", 1)
    }
}

/// Half to one and a half of the mean, another one for each seat and round.
fn pause(mean: Duration, seat: u32, round: u64) -> Duration {
    let step = (u64::from(seat).wrapping_mul(7_919).wrapping_add(round.wrapping_mul(104_729))) % 1_000;
    mean / 2 + mean * u32::try_from(step).unwrap_or_default() / 1_000
}

/// The version that a user's session is on.
#[derive(Default)]
struct Session {
    /// Whether the first request was answered: without that there is nothing to be moved.
    begun: Option<bool>,
    version: Option<String>,
}

impl Session {
    fn responded(&mut self, one: &Report, report: &mut PacedReport) {
        let now = Instant::now();
        for record in &one.records {
            let begun = *self.begun.get_or_insert(record.status == 200);
            let Some(version) = &record.seen.version else { continue };
            if version == "v2" {
                let first = report.canary.map_or(now, |(first, _)| first);
                report.canary = Some((first, now));
            }
            if begun && self.version.as_ref().is_some_and(|last| last != version) {
                report.moves.push((now, version.clone()));
            }
            self.version = Some(version.clone());
        }
    }
}

impl PacedReport {
    /// Adds what other users met.
    pub fn merge(&mut self, other: Self) {
        self.met.merge(other.met);
        self.moves.extend(other.moves);
        self.canary = match (self.canary, other.canary) {
            (Some((first, last)), Some((begun, ended))) => Some((first.min(begun), last.max(ended))),
            (one, another) => one.or(another),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use browser::load::{Record, ServedBy};

    fn response(status: u16, version: &str) -> Report {
        let seen = ServedBy { version: Some(version.to_owned()), ..ServedBy::default() };
        let record = Record {
            user: 0,
            round: 0,
            status,
            seen,
            reopened: false,
            closing: false,
            error: None,
            elapsed: Duration::ZERO,
        };
        Report { records: vec![record] }
    }

    fn moves(responses: &[(u16, &str)]) -> Vec<String> {
        let (mut session, mut report) = (Session::default(), PacedReport::default());
        for (status, version) in responses {
            session.responded(&response(*status, version), &mut report);
        }
        report.moves.into_iter().map(|(_, version)| version).collect()
    }

    #[test]
    fn a_session_that_is_answered_by_another_version_has_moved_each_time() {
        assert_eq!(moves(&[(200, "v1"), (200, "v2"), (500, "v2"), (200, "v1")]), ["v2", "v1"]);
    }

    #[test]
    fn a_user_whose_first_page_failed_has_no_session_that_moves() {
        assert_eq!(moves(&[(500, "v1"), (200, "v2")]), [""; 0]);
    }

    #[test]
    fn pauses_are_half_to_one_and_a_half_of_the_mean() {
        let mean = Duration::from_millis(500);
        let pauses: Vec<Duration> =
            (0..100).flat_map(|seat| (0..40).map(move |round| pause(mean, seat, round))).collect();
        let sum: Duration = pauses.iter().sum();
        let share = sum.as_secs_f64() / (mean * 4_000).as_secs_f64();
        assert!((0.98..1.02).contains(&share), "{share} of the mean");
        assert!(pauses.iter().all(|pause| (mean / 2..mean * 3 / 2).contains(pause)));
    }
}
