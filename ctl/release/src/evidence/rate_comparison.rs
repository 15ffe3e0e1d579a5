//! The rates of failures of both versions at the same time: their difference and their ratio, after Mantel and Haenszel.
//!
//! # Source
//! S. Greenland and J. Robins, "Estimation of a common effect parameter from sparse follow-up data", Biometrics 41 (1985).

use super::ResponseCount;
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};

/// Half of the width of a normal 95 % interval, in standard errors.
const WIDTH: f64 = 1.96;
/// Thousandths of a response.
const MILLI: f64 = 1e3;

/// Sums over the intervals in which both versions had responses, in thousandths of a response: a record that was written and read again is equal
/// to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateComparison {
    /// The canary's failures by stable's share of the responses.
    canary: i64,
    /// Stable's failures by the canary's share.
    stable: i64,
    /// The responses of both by both shares.
    responses: i64,
    /// The failures of both by both shares.
    failed: i64,
}

/// How many times as often the canary's responses fail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateRatio {
    /// The ratio of the rates.
    pub ratio: f64,
    /// The lower end of its 95 % interval, as if it were read once.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RateComparison {
    /// Adds an interval in which the weight did not change.
    pub(super) fn add(&mut self, canary: ResponseCount, stable: ResponseCount) {
        if canary.responses == 0 || stable.responses == 0 {
            return;
        }
        let (of_canary, of_stable) = (as_f64(canary.responses), as_f64(stable.responses));
        let (of_canary, of_stable, all) =
            (of_canary / (of_canary + of_stable), of_stable / (of_canary + of_stable), of_canary + of_stable);
        let (canary, stable) = (as_f64(canary.failed), as_f64(stable.failed));
        add(&mut self.canary, canary * of_stable);
        add(&mut self.stable, stable * of_canary);
        add(&mut self.responses, all * of_canary * of_stable);
        add(&mut self.failed, (canary + stable) * of_canary * of_stable);
    }

    /// The canary's rate minus stable's; 0 where both were never seen in one interval.
    pub(super) fn difference(&self) -> f64 {
        let difference = signed(self.canary.saturating_sub(self.stable));
        if self.responses == 0 { 0.0 } else { difference / signed(self.responses) }
    }

    /// The canary's rate by stable's, with an interval that is as much wider as failures cluster by user. `None` where one of both is 0.
    pub(super) fn ratio(&self, spread: f64) -> Option<RateRatio> {
        if self.canary <= 0 || self.stable <= 0 {
            return None;
        }
        let (canary, stable) = (signed(self.canary), signed(self.stable));
        let variance = spread * signed(self.failed) * MILLI / (canary * stable);
        let factor = (WIDTH * variance.sqrt()).exp();
        let ratio = canary / stable;
        Some(RateRatio { ratio, low: ratio / factor, high: ratio * factor })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, at 10^15 responses")]
fn add(sum: &mut i64, count: f64) {
    *sum = sum.saturating_add((count * MILLI).round() as i64);
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
const fn signed(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(intervals: &[([u64; 2], [u64; 2])]) -> RateComparison {
        let mut sums = RateComparison::default();
        for (canary, stable) in intervals {
            let count = |[failed, responses]: [u64; 2]| ResponseCount { responses, failed };
            sums.add(count(*canary), count(*stable));
        }
        sums
    }

    #[test]
    fn one_interval_has_the_rates_of_the_textbook() {
        let rates = of(&[([20, 1_000], [40, 4_000])]);
        assert!((rates.difference() - 0.01).abs() < 1e-6, "{rates:?}");
        let found = rates.ratio(1.0).unwrap();
        // exp(1.96 · sqrt(1/20 + 1/40 - …)) of a person-time ratio: 60 · 0.8 · 0.2 · … = 1/16 + 1/ … → 1.71.
        assert!((found.ratio - 2.0).abs() < 1e-6, "{found:?}");
        assert!((1.6..1.8).contains(&(found.high / found.ratio)), "{found:?}");
        assert!((found.ratio / found.low - found.high / found.ratio).abs() < 1e-9, "{found:?}");
        let clustered = rates.ratio(4.0).unwrap();
        assert!(clustered.low < found.low && found.high < clustered.high);
    }

    #[test]
    fn nothing_is_said_where_one_version_had_no_failure_or_no_response() {
        assert_eq!(of(&[([0, 100], [5, 100])]).ratio(1.0), None);
        assert_eq!(of(&[([5, 100], [0, 100])]).ratio(1.0), None);
        assert_eq!(of(&[([5, 100], [0, 0])]), RateComparison::default());
        assert!(RateComparison::default().difference() == 0.0);
    }
}
