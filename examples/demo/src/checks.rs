//! Whether what was observed is what the release promises.

use crate::environment::CANARY;
use crate::proxy::ProxyCounters;
use crate::round::Round;
use crate::stats::{Counters, Share};
use crate::stream::StreamError;
use canary_release::stats::Verdict;
use std::fmt;
use std::time::Duration;

/// Everything that was observed.
#[derive(Debug)]
pub(crate) struct Observations {
    /// Each weight.
    pub(crate) rounds: Vec<Round>,
    /// The shoppers who arrived before the filter was installed, when they arrived.
    pub(crate) before_filter: Share,
    /// How many of them are on the canary at the end.
    pub(crate) moved_to_canary: u64,
    /// Requests that the filter counted as adoptions of their sessions; later requests of a session have a pin.
    pub(crate) adoptions: u64,
    /// What all shoppers saw.
    pub(crate) counters: Counters,
    /// How long the stream was open, or why it broke off.
    pub(crate) stream: Result<Duration, StreamError>,
    /// What Envoy did.
    pub(crate) proxy: ProxyCounters,
    /// The version that served the tester at each weight.
    pub(crate) tester: Vec<String>,
}

/// One promise, and what was observed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    name: &'static str,
    /// Whether the promise was kept.
    pub(crate) passed: bool,
    detail: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.passed { "ok  " } else { "FAIL" };
        write!(f, "{mark}  {:<11} {}", self.name, self.detail)
    }
}

pub(crate) fn run(observations: &Observations) -> Vec<Check> {
    let checks = [share, stickiness, carts, responses, install, tester, connections];
    checks.iter().map(|check| check(observations)).collect()
}

fn share(observations: &Observations) -> Check {
    let (mut wrong, mut lowest) = (Vec::new(), 1.0_f64);
    for Round { percent, new, .. } in &observations.rounds {
        match Verdict::of_share(new.canary, new.total, f64::from(*percent) / 100.0) {
            Verdict::Exact => {}
            Verdict::Fits { p, .. } => lowest = lowest.min(p),
            verdict => wrong.push(format!("{} of {} at {percent}%: {verdict}", new.canary, new.total)),
        }
    }
    let detail = if wrong.is_empty() {
        format!("the share of new shoppers on {CANARY} fits each weight (chi-square, lowest p {lowest:.2})")
    } else {
        wrong.join("; ")
    };
    Check { name: "share", passed: wrong.is_empty() && !observations.rounds.is_empty(), detail }
}

fn stickiness(observations: &Observations) -> Check {
    let Counters { flips, requests, shoppers, .. } = observations.counters;
    let detail = format!(
        "{flips} flips of version or process in {requests} requests of {shoppers} shoppers, logins included"
    );
    Check { name: "stickiness", passed: flips == 0 && requests > 0, detail }
}

fn carts(observations: &Observations) -> Check {
    let lost = observations.counters.lost_carts;
    Check {
        name: "carts",
        passed: lost == 0,
        detail: format!("{lost} lost or changed; each shopper who stayed viewed theirs once more at the end"),
    }
}

fn responses(observations: &Observations) -> Check {
    let (errors, reloads) = (observations.counters.errors, observations.proxy.reloads);
    let detail = format!("{errors} missing or other than 200, {reloads} crashes of the filter");
    Check { name: "responses", passed: errors == 0 && reloads == 0, detail }
}

fn install(observations: &Observations) -> Check {
    let Share { canary, total } = observations.before_filter;
    let stayed = total.saturating_sub(canary).saturating_sub(observations.moved_to_canary);
    let detail = format!(
        "{stayed} of {total} sessions opened before the filter was installed stayed on their version"
    );
    let passed = stayed == total && total > 0 && observations.adoptions >= total;
    Check { name: "install", passed, detail }
}

fn tester(observations: &Observations) -> Check {
    let versions = &observations.tester;
    let reached = versions.iter().filter(|version| *version == CANARY).count();
    let detail = format!("with a token: {CANARY} at {reached} of {} weights, 0% included", versions.len());
    Check { name: "tester", passed: reached == observations.rounds.len(), detail }
}

fn connections(observations: &Observations) -> Check {
    let ProxyCounters { closed, listener_updates, draining, refused, .. } = observations.proxy;
    let stream = match &observations.stream {
        Ok(time) => format!("one response streamed for {:.0} s", time.as_secs_f64()),
        Err(error) => format!("a stream failed: {error}"),
    };
    let mut detail =
        format!("{closed} closed by Envoy, {listener_updates} listener updates, {draining} drains; {stream}");
    if refused > 0 {
        detail = format!("{detail}; {refused} configurations refused");
    }
    let passed = (closed, listener_updates, draining, refused) == (0, 0, 0, 0) && observations.stream.is_ok();
    Check { name: "connections", passed, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(percent: u32, canary: u64) -> Round {
        Round { percent, new: Share { canary, total: 400 }, ..Round::default() }
    }

    /// Observations that keep every promise.
    fn observations() -> Observations {
        Observations {
            rounds: vec![round(0, 0), round(20, 85)],
            before_filter: Share { canary: 0, total: 100 },
            moved_to_canary: 0,
            adoptions: 130,
            counters: Counters { shoppers: 900, requests: 5000, ..Counters::default() },
            stream: Ok(Duration::from_secs(30)),
            proxy: ProxyCounters::default(),
            tester: vec!["v2".to_owned(), "v2".to_owned()],
        }
    }

    /// The names of the checks that fail.
    fn failing(change: impl FnOnce(&mut Observations)) -> Vec<&'static str> {
        let mut observations = observations();
        change(&mut observations);
        run(&observations).into_iter().filter(|check| !check.passed).map(|check| check.name).collect()
    }

    #[test]
    fn observations_that_keep_every_promise_pass() {
        assert_eq!(failing(|_| {}), [""; 0]);
    }

    #[test]
    fn each_broken_promise_fails_its_own_check() {
        assert_eq!(failing(|seen| seen.rounds = vec![round(20, 160), round(0, 0)]), ["share"]);
        assert_eq!(failing(|seen| seen.rounds = vec![round(20, 80), round(0, 1)]), ["share"]);
        assert_eq!(failing(|seen| seen.counters.flips = 1), ["stickiness"]);
        assert_eq!(failing(|seen| seen.counters.lost_carts = 1), ["carts"]);
        assert_eq!(failing(|seen| seen.counters.errors = 1), ["responses"]);
        assert_eq!(failing(|seen| seen.proxy.reloads = 1), ["responses"]);
        assert_eq!(failing(|seen| seen.before_filter.canary = 1), ["install"]);
        assert_eq!(failing(|seen| seen.moved_to_canary = 1), ["install"]);
        assert_eq!(failing(|seen| seen.adoptions = 0), ["install"]);
        assert_eq!(failing(|seen| seen.tester[1] = "v1".to_owned()), ["tester"]);
        assert_eq!(failing(|seen| seen.proxy.closed = 1), ["connections"]);
        assert_eq!(failing(|seen| seen.proxy.listener_updates = 1), ["connections"]);
        assert_eq!(failing(|seen| seen.proxy.draining = 1), ["connections"]);
        assert_eq!(failing(|seen| seen.proxy.refused = 1), ["connections"]);
        assert_eq!(failing(|seen| seen.stream = Err(StreamError::Ended)), ["connections"]);
    }

    #[test]
    fn observations_of_nothing_do_not_pass() {
        let nothing = failing(|seen| {
            (seen.rounds, seen.tester) = (Vec::new(), Vec::new());
            (seen.before_filter, seen.counters) = (Share::default(), Counters::default());
        });
        assert_eq!(nothing, ["share", "stickiness", "install"]);
    }
}
