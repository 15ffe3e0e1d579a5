//! How a version responds: the chances of each kind of failure.

/// A probability by the number of the request in its session: first requests log in and miss caches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByAge {
    /// How many requests of a session are early ones.
    pub first: u32,
    /// The probability of those.
    pub early: f64,
    /// The probability of all others.
    pub later: f64,
}

impl ByAge {
    /// The same for all requests.
    pub const fn always(probability: f64) -> Self {
        Self { first: 0, early: 0.0, later: probability }
    }

    /// `early` for that many requests of a session, then `later`.
    pub const fn first(first: u32, early: f64, later: f64) -> Self {
        Self { first, early, later }
    }

    pub(crate) const fn at(&self, number: u32) -> f64 {
        if number < self.first { self.early } else { self.later }
    }
}

/// A part of the sessions, or of the users, that fails more than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unlucky {
    /// Their share.
    pub share: f64,
    /// The share of their responses that fails.
    pub rate: f64,
}

/// Failures that grow with the time since the rollout began, to a rate that stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leak {
    /// The rate in the end.
    pub rate: f64,
    /// Seconds until then.
    pub seconds: f64,
}

/// Failures of the first seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColdStart {
    /// The rate.
    pub rate: f64,
    /// How long it lasts.
    pub seconds: f64,
    /// Whether each step begins with new pods, and not the rollout alone.
    pub is_each_step: bool,
}

/// The pods of a version. A session stays with one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pods {
    /// Their number.
    pub count: u8,
    /// When those that pause do not work.
    pub pauses: Option<Pauses>,
    /// The number of those that pause.
    pub pausing: u8,
    /// Seconds between two restarts of a pod, on average (exponential). It forgets its sessions.
    pub restarts: Option<f64>,
    /// The further failures of the first of them.
    pub first_adds: f64,
}

impl Pods {
    /// Pods that work.
    pub const fn of(count: u8) -> Self {
        Self { count, pauses: None, pausing: 0, restarts: None, first_adds: 0.0 }
    }
}

/// Times in which something does not work, and comes back by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    /// Seconds between two, on average (exponential).
    pub gap: f64,
    /// How long one lasts, in seconds.
    pub length: f64,
    /// The share of responses that fails meanwhile.
    pub rate: f64,
}

/// How a version responds. All probabilities are of one response, and independent of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behaviour {
    /// A status of 5xx.
    pub server_errors: ByAge,
    /// Further 5xx, for everybody; those of bots as well.
    pub adds: f64,
    /// A status of 4xx.
    pub client_errors: ByAge,
    /// Slower than the release allows.
    pub slow_responses: ByAge,
    /// A `GET` response that sets the session cookie to another value or deletes it. A login does that, and a lost session.
    pub lost_sessions: ByAge,
    /// Seconds without a request after which a session ends: the next response sets another one.
    pub idle: f64,
    /// A body that is broken off after its headers.
    pub breaks_off: f64,
    /// No response at all.
    pub hangs: f64,
    /// Sessions or users that get more 5xx.
    pub unlucky: Option<Unlucky>,
    /// The user group that gets nothing else.
    pub failing_group: Option<u8>,
    /// More and more 5xx.
    pub leak: Option<Leak>,
    /// 5xx after a start.
    pub cold_start: Option<ColdStart>,
    /// Pods, where these are told apart.
    pub pods: Option<Pods>,
    /// The time between two requests of a session, as a multiple of the usual one.
    pub pace: f64,
}

impl Behaviour {
    /// A version without a failure.
    pub const GOOD: Self = Self {
        server_errors: ByAge::always(0.0),
        adds: 0.0,
        client_errors: ByAge::always(0.0),
        slow_responses: ByAge::always(0.0),
        lost_sessions: ByAge::always(0.0),
        idle: f64::INFINITY,
        breaks_off: 0.0,
        hangs: 0.0,
        unlucky: None,
        failing_group: None,
        leak: None,
        cold_start: None,
        pods: None,
        pace: 1.0,
    };

    /// The number of its pods.
    pub(crate) fn pod_count(&self) -> u8 {
        self.pods.map_or(1, |pods| pods.count)
    }
}
