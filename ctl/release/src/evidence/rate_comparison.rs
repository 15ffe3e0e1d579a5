//! The rates of failures of both versions at the same time: their difference and their ratio, after Mantel and Haenszel.
//!
//! The difference leaves out the groups in which stable is worst: a user of stable who always fails makes stable's rate higher than that of a canary
//! which fails more for everybody else.
//!
//! # Source
//! S. Greenland and J. Robins, "Estimation of a common effect parameter from sparse follow-up data", Biometrics 41 (1985).

use super::{GROUPS, ResponseCount, VersionCounts};
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};
use std::iter::zip;

/// Half of the width of a normal 95 % interval, in standard errors.
const WIDTH: f64 = 1.96;
/// Thousandths of a response.
const MILLI: f64 = 1e3;

/// The groups that a difference leaves out.
const LEFT_OUT: usize = 4;

/// Sums over the intervals in which both versions had responses, in thousandths of a response: a record that was written and read again is equal
/// to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateRatios {
    /// The canary's failures by stable's share of the responses.
    canary: i64,
    /// Stable's failures by the canary's share.
    stable: i64,
    /// The failures of both by both shares.
    failed: i64,
}

/// The difference of the rates of each group: numerator and denominator, likewise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct RateDifferences([[i64; 2]; GROUPS]);

/// The ratio of the canary's failure rate to stable's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateRatio {
    /// The ratio of the rates.
    pub ratio: f64,
    /// The lower end of its 95 % interval, as if it were read once.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The canary's and stable's parts of the responses, and all of them. `None` where one of both had none.
fn shares(canary: ResponseCount, stable: ResponseCount) -> Option<[f64; 3]> {
    if canary.responses == 0 || stable.responses == 0 {
        return None;
    }
    let (canary, stable) = (as_f64(canary.responses), as_f64(stable.responses));
    let all = canary + stable;
    Some([canary / all, stable / all, all])
}

impl RateRatios {
    /// Adds an interval in which the weight did not change.
    pub(super) fn add(&mut self, canary: ResponseCount, stable: ResponseCount) {
        let Some([of_canary, of_stable, _]) = shares(canary, stable) else { return };
        let (canary, stable) = (as_f64(canary.failed), as_f64(stable.failed));
        add(&mut self.canary, canary * of_stable);
        add(&mut self.stable, stable * of_canary);
        add(&mut self.failed, (canary + stable) * of_canary * of_stable);
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

impl RateDifferences {
    /// Adds an interval in which the weight did not change.
    pub(super) fn add(&mut self, interval: &VersionCounts) {
        let both = zip(interval.canary.groups(), interval.stable.groups());
        for ([difference, responses], (canary, stable)) in zip(&mut self.0, both) {
            let Some([of_canary, of_stable, all]) = shares(canary, stable) else { continue };
            add(difference, as_f64(canary.failed) * of_stable - as_f64(stable.failed) * of_canary);
            add(responses, all * of_canary * of_stable);
        }
    }

    /// The canary's rate minus stable's, without the groups in which it is least; 0 where both were never seen in one interval.
    pub(super) fn difference(&self) -> f64 {
        let mut groups: Vec<[f64; 2]> =
            self.0.iter().filter(|[_, responses]| *responses > 0).map(|sums| sums.map(signed)).collect();
        groups.sort_by(|[one, of_one], [other, of_other]| (other / of_other).total_cmp(&(one / of_one)));
        groups.truncate(groups.len().saturating_sub(LEFT_OUT).max(1));
        let [difference, responses] = groups
            .iter()
            .fold([0.0; 2], |[sum, all], [difference, responses]| [sum + difference, all + responses]);
        if responses > 0.0 { difference / responses } else { 0.0 }
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
    use crate::evidence::GroupCounts;

    fn ratio_of(canary: [u64; 2], stable: [u64; 2], spread: f64) -> Option<RateRatio> {
        let mut sums = RateRatios::default();
        let count = |[failed, responses]: [u64; 2]| ResponseCount { responses, failed };
        sums.add(count(canary), count(stable));
        sums.ratio(spread)
    }

    #[test]
    fn one_interval_has_the_ratio_of_the_textbook() {
        let found = ratio_of([20, 1_000], [40, 4_000], 1.0).unwrap();
        assert!((found.ratio - 2.0).abs() < 1e-6, "{found:?}");
        // The variance is 60 / 20 / 40 = 0.075 of a ratio of rates by person-time.
        let expected = (1.96 * 0.075_f64.sqrt()).exp();
        assert!((found.high / found.ratio - expected).abs() < 1e-6, "{found:?}");
        assert!((found.ratio / found.low - expected).abs() < 1e-6, "{found:?}");
        let clustered = ratio_of([20, 1_000], [40, 4_000], 4.0).unwrap();
        assert!(clustered.low < found.low && found.high < clustered.high);
    }

    #[test]
    fn no_ratio_is_said_where_one_version_had_no_failure_or_no_response() {
        assert_eq!(ratio_of([0, 100], [5, 100], 1.0), None);
        assert_eq!(ratio_of([5, 100], [0, 100], 1.0), None);
        assert_eq!(ratio_of([5, 100], [0, 0], 1.0), None);
    }

    #[test]
    fn four_groups_of_stable_that_always_fail_do_not_make_a_worse_canary_better() {
        let difference = |always_fail: usize| {
            let mut stable = [1; GROUPS];
            stable[..always_fail].fill(100);
            let mut sums = RateDifferences::default();
            sums.add(&VersionCounts {
                canary: GroupCounts::new([100; GROUPS], [2; GROUPS]),
                stable: GroupCounts::new([100; GROUPS], stable),
            });
            sums.difference()
        };
        assert!((difference(0) - 0.01).abs() < 1e-6, "{}", difference(0));
        assert!((difference(4) - 0.01).abs() < 1e-6, "{}", difference(4));
        assert!(difference(5) < 0.0, "{}", difference(5));
        assert!(RateDifferences::default().difference() == 0.0);
    }
}
