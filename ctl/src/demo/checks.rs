//! Whether what the story showed is what the release promises.

use super::ledger::{Share, Sums};
use super::proxy::Deeds;
use super::round::Round;
use super::stage::CANARY;
use crate::report::seconds;
use crate::simulate::share::Verdict;
use std::fmt;
use std::time::Duration;

/// Everything that was shown.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) rounds: Vec<Round>,
    /// Shoppers who are older than the filter, when they came.
    pub(super) old: Share,
    /// How many of them are on the canary at the end.
    pub(super) old_on_canary: usize,
    /// Requests by which the filter says that it kept them where they were; later ones have a pin.
    pub(super) adoptions: u64,
    pub(super) sums: Sums,
    /// How long the stream was open, or why it broke off.
    pub(super) stream: Result<Duration, String>,
    pub(super) deeds: Deeds,
    /// Who served the tester at each weight.
    pub(super) tester: Vec<String>,
}

/// One promise, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    name: &'static str,
    pub(super) holds: bool,
    seen: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.holds { "ok  " } else { "FAIL" };
        write!(f, "{mark}  {:<11} {}", self.name, self.seen)
    }
}

/// Judges everything.
pub(super) fn all(told: &Told) -> Vec<Check> {
    vec![share(told), stickiness(told), carts(told), answers(told), older(told), tester(told), proxy(told)]
}

fn share(told: &Told) -> Check {
    let (mut wrong, mut least) = (Vec::new(), 1.0_f64);
    for Round { percent, new, .. } in &told.rounds {
        match Verdict::of_share(new.canary, new.of, f64::from(*percent) / 100.0) {
            Verdict::Exact => {}
            Verdict::Fits { p, .. } => least = least.min(p),
            verdict => wrong.push(format!("{} of {} at {percent} %: {verdict}", new.canary, new.of)),
        }
    }
    let seen = if wrong.is_empty() {
        format!(
            "of new shoppers {CANARY} gets what each weight says, within chance (chi-square, least p {least:.2})"
        )
    } else {
        wrong.join("; ")
    };
    Check { name: "share", holds: wrong.is_empty() && !told.rounds.is_empty(), seen }
}

fn stickiness(told: &Told) -> Check {
    let Sums { flips, requests, shoppers, .. } = told.sums;
    let seen = format!(
        "{flips} flips of version or process in {requests} requests of {shoppers} shoppers, logins included"
    );
    Check { name: "stickiness", holds: flips == 0 && requests > 0, seen }
}

fn carts(told: &Told) -> Check {
    let lost = told.sums.lost_carts;
    Check {
        name: "carts",
        holds: lost == 0,
        seen: format!("{lost} lost or changed; everybody looked once more at the end"),
    }
}

fn answers(told: &Told) -> Check {
    let (errors, reloads) = (told.sums.errors, told.deeds.reloads);
    let seen = format!("{errors} other than 200, {reloads} crashes of the filter");
    Check { name: "answers", holds: errors == 0 && reloads == 0, seen }
}

fn older(told: &Told) -> Check {
    let Share { canary, of } = told.old;
    let stayed = of.saturating_sub(canary).saturating_sub(told.old_on_canary as u64);
    let seen = format!(
        "{stayed} of {of} sessions that are older than the filter stayed on the version they were on"
    );
    Check { name: "install", holds: stayed == of && of > 0 && told.adoptions >= of, seen }
}

fn tester(told: &Told) -> Check {
    let reached = told.tester.iter().filter(|version| *version == CANARY).count();
    let seen = format!("with a token: {CANARY} at {reached} of {} weights, 0 % included", told.tester.len());
    Check { name: "tester", holds: reached == told.rounds.len(), seen }
}

fn proxy(told: &Told) -> Check {
    let Deeds { closed, listener_updates, draining, refused, .. } = told.deeds;
    let stream = match &told.stream {
        Ok(time) => format!("one answer streamed for {}", seconds(*time)),
        Err(why) => format!("a stream failed: {why}"),
    };
    let seen =
        format!("{closed} closed by Envoy, {listener_updates} listener updates, {draining} drains; {stream}");
    let holds = (closed, listener_updates, draining, refused) == (0, 0, 0, 0) && told.stream.is_ok();
    let seen = if refused > 0 { format!("{seen}; {refused} configurations refused") } else { seen };
    Check { name: "connections", holds, seen }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(percent: u32, canary: u64) -> Round {
        Round { percent, new: Share { canary, of: 400 }, ..Round::default() }
    }

    fn told() -> Told {
        Told {
            rounds: vec![round(0, 0), round(20, 85)],
            old: Share { canary: 0, of: 100 },
            old_on_canary: 0,
            adoptions: 130,
            sums: Sums { shoppers: 900, requests: 5000, ..Sums::default() },
            stream: Ok(Duration::from_secs(30)),
            deeds: Deeds::default(),
            tester: vec!["v2".to_owned(), "v2".to_owned()],
        }
    }

    /// The names of the checks that fail.
    fn failing(change: impl FnOnce(&mut Told)) -> Vec<&'static str> {
        let mut told = told();
        change(&mut told);
        all(&told).into_iter().filter(|check| !check.holds).map(|check| check.name).collect()
    }

    #[test]
    fn a_story_in_which_everything_is_as_promised_holds() {
        assert_eq!(failing(|_| {}), [""; 0]);
    }

    #[test]
    fn each_broken_promise_is_found_by_its_own_check() {
        assert_eq!(failing(|told| told.rounds = vec![round(20, 160), round(0, 0)]), ["share"]);
        assert_eq!(failing(|told| told.rounds = vec![round(20, 80), round(0, 1)]), ["share"]);
        assert_eq!(failing(|told| told.sums.flips = 1), ["stickiness"]);
        assert_eq!(failing(|told| told.sums.lost_carts = 1), ["carts"]);
        assert_eq!(failing(|told| told.sums.errors = 1), ["answers"]);
        assert_eq!(failing(|told| told.deeds.reloads = 1), ["answers"]);
        assert_eq!(failing(|told| told.old_on_canary = 1), ["install"]);
        assert_eq!(failing(|told| told.adoptions = 0), ["install"]);
        assert_eq!(failing(|told| told.tester[1] = "v1".to_owned()), ["tester"]);
        assert_eq!(failing(|told| told.deeds.closed = 1), ["connections"]);
        assert_eq!(failing(|told| told.deeds.draining = 1), ["connections"]);
        assert_eq!(failing(|told| told.deeds.refused = 1), ["connections"]);
        assert_eq!(failing(|told| told.stream = Err("it broke off".to_owned())), ["connections"]);
    }

    #[test]
    fn a_story_in_which_nothing_happened_does_not_hold() {
        let nothing = failing(|told| {
            (told.rounds, told.tester) = (Vec::new(), Vec::new());
            (told.old, told.sums) = (Share::default(), Sums::default());
        });
        assert_eq!(nothing, ["share", "stickiness", "install"]);
    }
}
