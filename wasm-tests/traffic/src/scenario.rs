//! What is simulated: clients, both versions, and the rollout.

use crate::behaviour::{Behaviour, ByAge, Pauses, Unlucky};
use crate::random::Pareto;

/// Seconds of two and a half hours, and of 25 hours: the deadline is after 24.
const SHORT_HORIZON: u32 = 9_000;
const LONG_HORIZON: u32 = 90_000;
/// At most so many requests a second are counted for a day.
const LITTLE_TRAFFIC: f64 = 2.0;
/// Users for each request a second.
const USERS_A_RATE: f64 = 100.0;

/// Who the clients are, bots apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Population {
    /// `stickiness: session`: each session has a version, a group, and an end.
    Sessions {
        /// The number of its requests.
        length: Pareto,
        /// Seconds between two of them, on average (exponential).
        gap: f64,
    },
    /// `stickiness: user`: the same users all the time.
    Users {
        /// Their number.
        count: u32,
        /// The number of groups that they are in.
        groups: u8,
        /// How much more some of them send than others.
        activity: Pareto,
    },
}

/// Single clients that send much: bots, crawlers, users behind one address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bots {
    /// Their number.
    pub count: u8,
    /// The share of each of them in all requests.
    pub share: f64,
    /// The share of their responses with 5xx, in both versions.
    pub rate: f64,
}

/// Responses that take long in both versions: long polls, reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongResponses {
    /// Their share of all requests.
    pub share: f64,
    /// The least time, in seconds.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// Which sessions the proxies count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Those since the second that the record's state names.
    #[default]
    AsRecorded,
    /// Those that began in the rollout.
    WholeRollout,
}

/// What a release asks for: kinds of failure that are not judged otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// 4xx.
    pub client_errors: bool,
    /// Slow responses.
    pub slow_responses: bool,
    /// Lost sessions, which are judged anyway where sessions are sticky.
    pub lost_sessions: bool,
}

/// A step of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// The weight, in percent.
    pub percent: u32,
    /// The least time at it, in seconds.
    pub hold: u32,
}

/// Clients, both versions, and the rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Requests a second, of all clients together.
    pub rate: f64,
    /// The clients.
    pub population: Population,
    /// Those who send much. Their requests are a part of all.
    pub bots: Vec<Bots>,
    /// Whether the load is a sine of ±80 % over two hours.
    pub is_diurnal: bool,
    /// The share of requests whose client leaves before the response, after two to three seconds.
    pub leaves: f64,
    /// Responses that take long.
    pub long_responses: Option<LongResponses>,
    /// Whether each version signs its sessions with a key of its own, so that it takes none of the other's.
    pub has_own_keys: bool,
    /// Whether a failed request is repeated, up to four times.
    pub has_retries: bool,
    /// Failures of what both versions share. Their length is exponential.
    pub blips: Option<Pauses>,
    /// The canary.
    pub canary: Behaviour,
    /// Stable.
    pub stable: Behaviour,
    /// What the canary becomes, and after how many seconds.
    pub change: Option<(u32, Behaviour)>,
    /// The steps; those of the product if there is none.
    pub plan: Vec<PlanStep>,
    /// What counts as a failure besides 5xx and missing responses.
    pub judged: Judged,
    /// Which sessions are counted.
    pub counting: Counting,
    /// The simulation ends after so many seconds.
    pub horizon: u32,
}

impl Scenario {
    fn new(rate: f64, population: Population) -> Self {
        let horizon = if rate > LITTLE_TRAFFIC { SHORT_HORIZON } else { LONG_HORIZON };
        Self {
            rate,
            population,
            bots: Vec::new(),
            is_diurnal: false,
            leaves: 0.0,
            long_responses: None,
            has_own_keys: false,
            has_retries: false,
            blips: None,
            canary: Behaviour::GOOD,
            stable: Behaviour::GOOD,
            change: None,
            plan: Vec::new(),
            judged: Judged::default(),
            counting: Counting::default(),
            horizon,
        }
    }

    /// Sessions of 3 to 3,000 requests, 16 on average, with ten seconds between two of them.
    pub fn sessions(rate: f64) -> Self {
        let length = Pareto { shape: 1.1, least: 3.0, most: 3_000.0 };
        Self::new(rate, Population::Sessions { length, gap: 10.0 })
    }

    /// A hundred users for each request a second, of whom a few send thousands of times as much as most.
    pub fn users(rate: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousand users")]
        let count = (rate * USERS_A_RATE).round() as u32;
        Self::users_of(rate, count)
    }

    /// That many users.
    pub fn users_of(rate: f64, count: u32) -> Self {
        let activity = Pareto { shape: 1.1, least: 1.0, most: 10_000.0 };
        Self::new(rate, Population::Users { count, groups: 16, activity })
    }

    /// With further settings.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Both versions alike.
    #[must_use]
    pub fn both(mut self, change: impl Fn(&mut Behaviour)) -> Self {
        change(&mut self.stable);
        change(&mut self.canary);
        self
    }

    /// The canary alone.
    #[must_use]
    pub fn canary(mut self, change: impl FnOnce(&mut Behaviour)) -> Self {
        change(&mut self.canary);
        self
    }

    /// Both versions fail with that probability.
    #[must_use]
    pub fn failing(self, rate: f64) -> Self {
        self.both(|version| version.server_errors = ByAge::always(rate))
    }

    /// The first requests of a session fail more, in both versions.
    #[must_use]
    pub fn failing_first(self, first: u32, early: f64, later: f64) -> Self {
        self.both(|version| version.server_errors = ByAge::first(first, early, later))
    }

    /// A part of the sessions or users fails more, in both versions.
    #[must_use]
    pub fn with_unlucky(self, share: f64, rate: f64) -> Self {
        self.both(|version| version.unlucky = Some(Unlucky { share, rate }))
    }

    /// The canary has that many further failures, for everybody.
    #[must_use]
    pub fn canary_adds(self, rate: f64) -> Self {
        self.canary(|version| version.adds = rate)
    }

    /// With bots.
    #[must_use]
    pub fn with_bots(self, count: u8, share: f64, rate: f64) -> Self {
        self.with(|scenario| scenario.bots.push(Bots { count, share, rate }))
    }

    /// A database that both versions use fails half of the requests for 3 s, each 30 s.
    #[must_use]
    pub fn with_blips(self) -> Self {
        self.with(|scenario| scenario.blips = Some(Pauses { gap: 27.0, length: 3.0, rate: 0.5 }))
    }

    /// With the steps of a plan: percent, and seconds.
    #[must_use]
    pub fn with_plan(self, steps: &[(u32, u32)]) -> Self {
        let step = |(percent, hold): &(u32, u32)| PlanStep { percent: *percent, hold: *hold };
        self.with(|scenario| scenario.plan = steps.iter().map(step).collect())
    }

    /// With another time between two requests of a session, in seconds; nothing changes where there are none.
    #[must_use]
    pub fn with_gap(mut self, seconds: f64) -> Self {
        if let Population::Sessions { gap, .. } = &mut self.population {
            *gap = seconds;
        }
        self
    }

    /// Simulated for that many hours and a half.
    #[must_use]
    pub fn with_hours(self, hours: u32) -> Self {
        self.with(|scenario| scenario.horizon = hours * 3_600 + 1_800)
    }

    /// The share of requests that are not those of bots.
    pub(crate) fn share_of_people(&self) -> f64 {
        1.0 - self.bots.iter().map(|bots| f64::from(bots.count) * bots.share).sum::<f64>()
    }

    /// What is sent in a second, as a multiple of the usual.
    pub(crate) fn load(&self, second: u32) -> f64 {
        if !self.is_diurnal {
            return 1.0;
        }
        0.8f64.mul_add((f64::from(second) / 7_200.0 * std::f64::consts::TAU).sin(), 1.0)
    }
}
