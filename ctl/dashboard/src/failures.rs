//! Failures over time, as the page shows them: those of a rollout, or of the window in which the page counts requests.

use canary_release::evidence::ResponseCount;
use canary_release::metrics::Traffic;
use canary_release::rollout::{FailureInterval, Rollout};
use canary_release::status::WindowTraffic;
use jiff::{SignedDuration, Timestamp};

/// The failures of both versions, the oldest first. A rollout that goes on has them in its record; else it is what the proxies have counted
/// in the window.
pub(crate) fn failures_of(
    rollout: Option<&Rollout>,
    window: Option<&WindowTraffic>,
    [stable, canary]: [Option<&str>; 2],
    now: Timestamp,
) -> Vec<FailureInterval> {
    let mut failures: Vec<FailureInterval> =
        rollout.map(|rollout| rollout.failures.intervals().collect()).unwrap_or_default();
    let is_active = rollout.is_some_and(Rollout::is_active);
    let counted = window.filter(|window| !is_active && !window.time.is_zero());
    if let (Some(window), Some(stable), Some(canary)) = (counted, stable, canary) {
        let seconds = i64::try_from(window.time.as_secs()).unwrap_or(i64::MAX);
        let from = now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(now);
        let [stable, canary] = [stable, canary].map(|version| server_errors(&window.traffic, version));
        failures.push(FailureInterval { from, to: now, canary, stable });
    }
    failures
}

/// The responses of a version, of which those with 5xx have failed.
fn server_errors(traffic: &Traffic, version: &str) -> ResponseCount {
    let classes = traffic.responses_of(version);
    ResponseCount {
        responses: classes.values().sum(),
        failed: classes.get("5xx").copied().unwrap_or_default(),
    }
}
