//! Whether what the story showed is what the release promises.

use super::ledger::{Share, Sums};
use super::proxy::Deeds;
use super::stage::CANARY;
use crate::report::seconds;
use crate::simulate::share::Verdict;
use std::fmt;
use std::time::Duration;

/// One weight, and who came while it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) percent: u32,
    pub(super) new: Share,
}

/// Everything that was shown.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) turns: Vec<Turn>,
    /// Shoppers who are older than the filter, when they came.
    pub(super) old: Share,
    /// How many of them the filter says it has adopted.
    pub(super) adopted: u64,
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
    for Turn { percent, new } in &told.turns {
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
    Check { name: "share", holds: wrong.is_empty() && !told.turns.is_empty(), seen }
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
    let seen = format!(
        "{} of {of} sessions older than the filter were adopted by the version they were on",
        told.adopted
    );
    Check { name: "install", holds: canary == 0 && of > 0 && told.adopted == of, seen }
}

fn tester(told: &Told) -> Check {
    let reached = told.tester.iter().filter(|version| *version == CANARY).count();
    let seen = format!("with a token: {CANARY} at {reached} of {} weights, 0 % included", told.tester.len());
    Check { name: "tester", holds: reached == told.turns.len(), seen }
}

fn proxy(told: &Told) -> Check {
    let Deeds { closed, listener_updates, draining, refused, .. } = told.deeds;
    let stream = match &told.stream {
        Ok(time) => format!("a stream stayed open for {}", seconds(*time)),
        Err(why) => format!("a stream failed: {why}"),
    };
    let seen = format!(
        "{closed} connections closed by Envoy, {listener_updates} listener updates, {draining} drains, {refused} refusals; {stream}"
    );
    let holds = (closed, listener_updates, draining, refused) == (0, 0, 0, 0) && told.stream.is_ok();
    Check { name: "connections", holds, seen }
}
