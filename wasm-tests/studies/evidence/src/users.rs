//! Sessions that come, send requests and go. Which version a session has is drawn once, by the weight.

use canary_release::evidence::{GROUPS, VersionCounts};
use fastrand::Rng;

/// Seconds between two observations.
pub const INTERVAL: u32 = 10;
/// The mean number of requests of a session.
const REQUESTS_OF_SESSION: f64 = 30.0;
/// Seconds between two requests of a session, on average.
const SECONDS_BETWEEN: f64 = 30.0;
/// The rate at which a user for whom something is broken fails: every fifth request.
const BROKEN: f64 = 0.2;

/// How the failures of a version are spread over its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// Each request fails alike.
    Independent,
    /// A few users fail with every fifth request, the others never.
    FewUsers,
    /// The same, and one bot sends a tenth of all requests, of which a fifth fails, whatever its version.
    FewUsersAndBot,
}

/// What a rollout is simulated with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// Requests a second, of all users.
    pub requests_per_second: u32,
    /// The canary's share of sessions, `0.0..=1.0`.
    pub weight: f64,
    /// The rate of failures of the canary.
    pub canary_rate: f64,
    /// The rate of failures of stable.
    pub stable_rate: f64,
    /// How failures are spread over users.
    pub clustering: Clustering,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    is_canary: bool,
    group: usize,
    rate: f64,
}

/// The users of one rollout.
#[derive(Debug)]
pub struct Users {
    scenario: Scenario,
    random: Rng,
    sessions: Vec<Session>,
    bot: Session,
}

impl Users {
    /// The users of a scenario; the same for the same seed.
    pub fn new(scenario: Scenario, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let sessions = (f64::from(scenario.requests_per_second) * SECONDS_BETWEEN).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let sessions = (0..sessions as usize).map(|_| scenario.session(&mut random)).collect();
        let bot = Session { rate: BROKEN, ..scenario.session(&mut random) };
        Self { scenario, random, sessions, bot }
    }

    /// The responses of the next interval.
    pub fn interval(&mut self) -> VersionCounts {
        let mut counts = VersionCounts::default();
        for _ in 0..self.scenario.requests_per_second * INTERVAL {
            let session = self.request();
            let version = if session.is_canary { &mut counts.canary } else { &mut counts.stable };
            version.count(session.group, self.random.f64() < session.rate);
        }
        counts
    }

    /// The session that sends the next request. Some end with it, and others come in their place.
    fn request(&mut self) -> Session {
        if self.scenario.clustering == Clustering::FewUsersAndBot && self.random.f64() < 0.1 {
            return self.bot;
        }
        let index = self.random.usize(0..self.sessions.len());
        let Some(session) = self.sessions.get_mut(index) else { return self.bot };
        let found = *session;
        if self.random.f64() < 1.0 / REQUESTS_OF_SESSION {
            *session = self.scenario.session(&mut self.random);
        }
        found
    }
}

impl Scenario {
    fn session(&self, random: &mut Rng) -> Session {
        let is_canary = random.f64() < self.weight;
        let rate = if is_canary { self.canary_rate } else { self.stable_rate };
        let rate = match self.clustering {
            Clustering::Independent => rate,
            Clustering::FewUsers | Clustering::FewUsersAndBot if random.f64() < rate / BROKEN => BROKEN,
            Clustering::FewUsers | Clustering::FewUsersAndBot => 0.0,
        };
        Session { is_canary, group: random.usize(0..GROUPS), rate }
    }
}
