//! Both versions and the proxies before them: a request in, counters out.

use crate::behaviour::{Behaviour, ColdStart, Leak};
use crate::counters::{Cell, Counted, CounterTable, PROXIES};
use crate::episodes::{Episodes, Restarts};
use crate::random::Random;
use crate::scenario::Scenario;

/// Seconds of a usual response, on average (exponential).
const LATENCY: f64 = 0.15;
/// A usual response is sooner.
const MAX_LATENCY: f64 = 3.0;
/// When a request counts as unanswered, in seconds: the proxies look once a second.
const UNANSWERED: (f64, f64) = (4.0, 5.0);
/// When one counts whose client leaves.
const LEFT: (f64, f64) = (2.0, 3.0);
/// How long a body takes that is broken off, in seconds.
const BODY: (f64, f64) = (0.0, 4.0);
/// When a client gives up that is not answered, in seconds.
const GIVES_UP: f64 = 30.0;
/// A failed request is sent so often, the first time included.
const ATTEMPTS: u32 = 5;
/// The share of repetitions that fail again.
const FAILS_AGAIN: f64 = 0.95;

/// Who sends a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) is_canary: bool,
    pub(crate) is_counted: bool,
    pub(crate) group: u8,
    pub(crate) pod: u8,
    /// What tells the unlucky from the others, `0.0..1.0`.
    pub(crate) luck: f64,
    /// Its own rate of 5xx, if it is a bot.
    pub(crate) rate: Option<f64>,
    /// Whether it met a failure of the canary.
    pub(crate) has_met: bool,
    /// Its session of the application, once it has one.
    pub(crate) session: Option<Session>,
}

/// A session of the application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    since: f64,
    last_request: f64,
    /// Whether the canary has opened it, and signed it where keys differ.
    is_of_canary: bool,
}

/// What becomes of a request.
enum Fate {
    /// A response after so many seconds.
    Response(f64),
    /// None, since the client leaves.
    Leaves,
    /// None.
    Hangs,
}

impl Fate {
    /// How long the client waits.
    const fn seconds(&self) -> f64 {
        match self {
            Self::Response(seconds) => *seconds,
            Self::Leaves => LEFT.1,
            Self::Hangs => GIVES_UP,
        }
    }
}

/// The state of both versions.
pub(crate) struct Service<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) random: Random,
    pub(crate) counters: CounterTable,
    /// The canary's share, in basis points.
    pub(crate) weight: u32,
    /// When the present step began, and from when on sessions are counted, in seconds.
    pub(crate) step_since: u32,
    pub(crate) counted_since: u32,
    /// Clients who met a failure of the canary.
    pub(crate) met: u32,
    canary: Behaviour,
    blips: Option<Episodes>,
    /// Of each pod: stable's, then the canary's.
    pauses: [Vec<Episodes>; 2],
    /// The same.
    restarts: [Vec<Restarts>; 2],
}

impl<'s> Service<'s> {
    pub(crate) fn new(scenario: &'s Scenario, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let blips = scenario.blips.map(|blips| Episodes::of_random_length(blips, &mut random));
        let pauses = [&scenario.stable, &scenario.canary].map(|version| {
            let pauses = version.pods.and_then(|pods| Some((pods.pausing, pods.pauses?)));
            let each = pauses.into_iter().flat_map(|(count, pauses)| (0..count).map(move |_| pauses));
            each.map(|pauses| Episodes::of_length(pauses, &mut random)).collect()
        });
        let restarts = [&scenario.stable, &scenario.canary].map(|version| {
            let restarts = version.pods.and_then(|pods| Some((pods.count, pods.restarts?)));
            let each = restarts.into_iter().flat_map(|(count, gap)| (0..count).map(move |_| gap));
            each.map(|gap| Restarts::new(gap, &mut random)).collect()
        });
        Self {
            scenario,
            random,
            counters: CounterTable::new(),
            weight: 0,
            step_since: 0,
            counted_since: 0,
            met: 0,
            canary: scenario.canary,
            blips,
            pauses,
            restarts,
        }
    }

    pub(crate) fn begin_second(&mut self, second: u32) {
        if let Some((_, canary)) = self.scenario.change.filter(|(at, _)| second >= *at) {
            self.canary = canary;
        }
        let episodes = self.pauses.iter_mut().flatten().chain(&mut self.blips);
        for episodes in episodes {
            episodes.advance(f64::from(second), &mut self.random);
        }
        for restarts in self.restarts.iter_mut().flatten() {
            restarts.advance(f64::from(second), &mut self.random);
        }
    }

    /// The pods of the canary that have ended.
    pub(crate) fn ended_pods(&self) -> u64 {
        let [_, canary] = &self.restarts;
        canary.iter().map(Restarts::number).sum()
    }

    /// How a version responds now.
    pub(crate) const fn behaviour(&self, is_canary: bool) -> &Behaviour {
        if is_canary { &self.canary } else { &self.scenario.stable }
    }

    /// A client whose version is given by chance, and whose group is one of so many.
    pub(crate) fn client(&mut self, groups: u8) -> Client {
        let is_canary = self.random.happens(f64::from(self.weight) / 1e4);
        let pods = self.behaviour(is_canary).pod_count();
        Client {
            is_canary,
            is_counted: true,
            group: self.random.below(groups),
            pod: self.random.below(pods),
            luck: self.random.unit(),
            rate: None,
            has_met: false,
            session: None,
        }
    }

    /// A request, the one of that number in its session, and those that repeat it. When the client has the response, or none is to be expected.
    pub(crate) fn request(&mut self, client: &mut Client, number: u32, at: f64) -> f64 {
        let attempts = if self.scenario.has_retries { ATTEMPTS } else { 1 };
        let mut rate = self.failure_rate(client, number, at);
        let mut now = at;
        for _ in 0..attempts {
            let fate = self.fate(client.is_canary);
            let fails = matches!(fate, Fate::Response(_)) && self.random.happens(rate);
            self.exchange(client, (number, now), &fate, fails);
            now += fate.seconds();
            if !fails {
                break;
            }
            rate = FAILS_AGAIN;
        }
        now
    }

    /// Counts a request, the one of that number and time, and what becomes of it.
    fn exchange(&mut self, client: &mut Client, (number, at): (u32, f64), fate: &Fate, fails: bool) {
        let is_forgotten = self.forgets(client, at);
        let breaks_off = !fails && matches!(fate, Fate::Response(_)) && self.breaks_off(client.is_canary);
        let is_bad = fails || breaks_off || is_forgotten || matches!(fate, Fate::Hangs);
        if client.is_canary && is_bad && !client.has_met {
            client.has_met = true;
            self.met += 1;
        }
        if !client.is_counted {
            return;
        }
        let cell = Cell::new(self.random.below(PROXIES), client.is_canary, client.group);
        self.counters.count(cell, Counted::REQUEST, at);
        match fate {
            Fate::Leaves => self.count_later(cell, Counted::UNANSWERED, (at, LEFT)),
            Fate::Hangs => self.count_later(cell, Counted::UNANSWERED, (at, UNANSWERED)),
            Fate::Response(latency) => {
                if *latency > UNANSWERED.1 {
                    self.count_later(cell, Counted::UNANSWERED, (at, UNANSWERED));
                }
                let behaviour = *self.behaviour(client.is_canary);
                let response = self.response(&behaviour, number, fails, *latency);
                let response = response.and(Counted::LOST_SESSION, is_forgotten && !fails);
                self.counters.count(cell, response, at + *latency);
                if breaks_off {
                    self.count_later(cell, Counted::SERVER_ERROR, (at + *latency, BODY));
                }
            }
        }
    }

    /// Whether the client's session of the application is lost with this request. It has another one then.
    fn forgets(&self, client: &mut Client, at: f64) -> bool {
        let new = Session { since: at, last_request: at, is_of_canary: client.is_canary };
        let Some(session) = client.session.replace(new) else { return false };
        let [stable, canary] = &self.restarts;
        let restarts = if client.is_canary { canary } else { stable };
        let has_restarted =
            restarts.get(usize::from(client.pod)).is_some_and(|pod| pod.last() > session.since);
        let is_foreign = self.scenario.has_own_keys && session.is_of_canary != client.is_canary;
        let idle = at - session.last_request;
        if has_restarted || is_foreign || idle > self.behaviour(client.is_canary).idle {
            return true;
        }
        client.session = Some(Session { last_request: at, ..session });
        false
    }

    /// Whether a body is broken off. Nothing is drawn where none is.
    fn breaks_off(&mut self, is_canary: bool) -> bool {
        let share = self.behaviour(is_canary).breaks_off;
        share > 0.0 && self.random.happens(share)
    }

    fn count_later(&mut self, cell: Cell, counted: Counted, (at, (least, most)): (f64, (f64, f64))) {
        let delay = self.random.between(least, most);
        self.counters.count(cell, counted, at + delay);
    }

    fn fate(&mut self, is_canary: bool) -> Fate {
        if self.random.happens(self.behaviour(is_canary).hangs) {
            return Fate::Hangs;
        }
        if self.random.happens(self.scenario.leaves) {
            return Fate::Leaves;
        }
        match self.scenario.long_responses {
            Some(long) if self.random.happens(long.share) => {
                Fate::Response(self.random.between(long.least, long.most))
            }
            _ => Fate::Response(self.random.exponential(LATENCY).min(MAX_LATENCY)),
        }
    }

    /// What is counted with the headers of a response.
    fn response(&mut self, version: &Behaviour, number: u32, fails: bool, latency: f64) -> Counted {
        let random = &mut self.random;
        let is_client_error = !fails && random.happens(version.client_errors.at(number));
        let is_slow = latency > MAX_LATENCY || random.happens(version.slow_responses.at(number));
        let is_lost = !fails && random.happens(version.lost_sessions.at(number));
        Counted::RESPONSE
            .and(Counted::SERVER_ERROR, fails)
            .and(Counted::CLIENT_ERROR, is_client_error)
            .and(Counted::SLOW, is_slow)
            .and(Counted::LOST_SESSION, is_lost)
    }

    /// The probability that a response is 5xx: what it may fail for is independent of each other.
    fn failure_rate(&self, client: &Client, number: u32, at: f64) -> f64 {
        let version = self.behaviour(client.is_canary);
        let usual = client.rate.unwrap_or_else(|| version.server_errors.at(number));
        let mut works = (1.0 - usual) * (1.0 - version.adds);
        if let Some(unlucky) = version.unlucky.filter(|unlucky| client.luck < unlucky.share) {
            works *= 1.0 - unlucky.rate;
        }
        if version.failing_group == Some(client.group) {
            works = 0.0;
        }
        works *= 1.0 - version.leak.map_or(0.0, |leak| leaked(leak, at));
        works *= 1.0 - version.cold_start.map_or(0.0, |start| self.cold(start, at));
        works *= 1.0 - self.blips.as_ref().map_or(0.0, |blips| blips.rate_at(at));
        works *= 1.0 - self.pod_failure_rate(version, client, at);
        1.0 - works
    }

    fn pod_failure_rate(&self, version: &Behaviour, client: &Client, at: f64) -> f64 {
        let Some(pods) = version.pods else { return 0.0 };
        let [stable, canary] = &self.pauses;
        let pauses = if client.is_canary { canary } else { stable };
        let of_pod = pauses.get(usize::from(client.pod)).map_or(0.0, |pod| pod.rate_at(at));
        let first = if client.pod == 0 { pods.first_adds } else { 0.0 };
        1.0 - (1.0 - of_pod) * (1.0 - first)
    }

    fn cold(&self, start: ColdStart, at: f64) -> f64 {
        let since = if start.is_each_step { f64::from(self.step_since) } else { 0.0 };
        if at - since < start.seconds { start.rate } else { 0.0 }
    }
}

fn leaked(leak: Leak, at: f64) -> f64 {
    leak.rate * (at / leak.seconds).min(1.0)
}
