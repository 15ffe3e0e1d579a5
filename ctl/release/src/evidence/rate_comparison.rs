//! The rates of failures of both versions at the same time: their difference and their ratio, after Mantel and Haenszel.
//!
//! The difference leaves out the groups in which stable is worst: a user of stable who always fails makes stable's rate higher than that of a canary
//! which fails more for everybody else.
//!
//! A difference counts less 2.5 standard errors. They come from what the difference varies from interval to interval beyond single failures. So a
//! few intervals in which many requests fail together, as in pauses of a pod, are few events and not many failures.
//!
//! # Source
//! S. Greenland and J. Robins, "Estimation of a common effect parameter from sparse follow-up data", Biometrics 41 (1985).

use super::{GROUPS, ResponseCount, VersionCounts};
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};
use std::array::from_fn;
use std::iter::zip;

/// Half of the width of a normal 95 % interval, in standard errors.
const WIDTH: f64 = 1.96;
/// The standard errors by which a difference is smaller.
const ERRORS: f64 = 2.5;
/// Thousandths of a response.
const MILLI: f64 = 1e3;

/// The groups that a difference leaves out, and those on each side that say no more of its variation than the next one.
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

/// The variation of the difference from interval to interval, beyond that of single failures: of the intervals' numerators the sum of the squares
/// less one failure each, and the sum, both in thousandths, and the number of intervals. A change of the weight is
/// variation, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Variation([i64; 3]);

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

/// The difference of each group in an interval: its numerator and its denominator. Zeros where a version had no response.
fn differences(interval: &VersionCounts) -> [[f64; 2]; GROUPS] {
    let mut both = zip(interval.canary.groups(), interval.stable.groups());
    from_fn(|_| {
        let (canary, stable) = both.next().unwrap_or_default();
        shares(canary, stable).map_or([0.0; 2], |[of_canary, of_stable, all]| {
            let failed = as_f64(canary.failed) * of_stable - as_f64(stable.failed) * of_canary;
            [failed, all * of_canary * of_stable]
        })
    })
}

impl Variation {
    /// Adds an interval in which the weight did not change. One user is no variation: a group says one failure more, or less, than the fifth
    /// group from its end at most.
    pub(super) fn add(&mut self, interval: &VersionCounts) {
        let mut said = differences(interval).map(|[failed, _]| failed);
        said.sort_by(f64::total_cmp);
        let nth = |index: usize| said.get(index).copied().unwrap_or_default();
        let (least, most) = (nth(LEFT_OUT) - 1.0, nth(GROUPS - 1 - LEFT_OUT) + 1.0);
        let failed: f64 = said.iter().map(|said| said.clamp(least, most)).sum();
        let [squares, sum, intervals] = &mut self.0;
        add(squares, failed.abs() * (failed.abs() - 1.0).max(0.0));
        add(sum, failed);
        *intervals = intervals.saturating_add(1);
    }

    /// The standard error of the difference's numerator, in thousandths of a response.
    fn standard_error(self) -> f64 {
        let [squares, sum, intervals] = self.0.map(signed);
        (squares * MILLI - sum.powi(2) / intervals.max(1.0)).max(0.0).sqrt()
    }
}

impl RateDifferences {
    /// Adds an interval in which the weight did not change.
    pub(super) fn add(&mut self, interval: &VersionCounts) {
        for (sums, said) in zip(&mut self.0, differences(interval)) {
            zip(sums, said).for_each(|(sum, said)| add(sum, said));
        }
    }

    /// The canary's rate minus stable's, less 2.5 standard errors, without the groups in which it is least; 0 where both were never seen in one
    /// interval.
    pub(super) fn difference(&self, variation: Variation) -> f64 {
        let mut groups: Vec<[f64; 2]> =
            self.0.iter().filter(|[_, responses]| *responses > 0).map(|sums| sums.map(signed)).collect();
        groups.sort_by(|[one, of_one], [other, of_other]| (other / of_other).total_cmp(&(one / of_one)));
        groups.truncate(groups.len().saturating_sub(LEFT_OUT).max(1));
        let [difference, responses] = groups
            .iter()
            .fold([0.0; 2], |[sum, all], [difference, responses]| [sum + difference, all + responses]);
        if responses > 0.0 { (difference - ERRORS * variation.standard_error()) / responses } else { 0.0 }
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

    /// The difference after intervals with so many responses and failures of each group of both versions.
    fn difference_of(intervals: impl IntoIterator<Item = VersionCounts>) -> f64 {
        let (mut sums, mut variation) = (RateDifferences::default(), Variation::default());
        for interval in intervals {
            sums.add(&interval);
            variation.add(&interval);
        }
        sums.difference(variation)
    }

    fn of_each_100(canary: [u64; GROUPS], stable: [u64; GROUPS]) -> VersionCounts {
        let counts = |failed| GroupCounts::new([100; GROUPS], failed);
        VersionCounts { canary: counts(canary), stable: counts(stable) }
    }

    #[test]
    fn four_groups_of_stable_that_always_fail_do_not_make_a_worse_canary_better() {
        let difference = |always_fail: usize| {
            let mut stable = [1; GROUPS];
            stable[..always_fail].fill(100);
            difference_of(std::iter::repeat_n(of_each_100([2; GROUPS], stable), 100))
        };
        assert!((difference(0) - 0.01).abs() < 1e-6, "{}", difference(0));
        assert!((difference(4) - 0.01).abs() < 1e-6, "{}", difference(4));
        assert!(difference(5) < 0.0, "{}", difference(5));
        assert!(difference_of([]) == 0.0);
    }

    /// The difference in thousandths, where the canary's groups fail so often in every n-th of a hundred intervals.
    fn thousandths(canary: [u64; GROUPS], every: u64) -> f64 {
        let of_canary = |at: u64| if at.is_multiple_of(every) { canary } else { [0; GROUPS] };
        1e3 * difference_of((0..100).map(|at| of_each_100(of_canary(at), [0; GROUPS])))
    }

    #[test]
    fn as_many_failures_are_a_smaller_difference_the_fewer_the_intervals_in_which_they_come() {
        for (in_each_group, every, expected) in
            [(1, 1, 10.0), (2, 2, 6.9), (4, 4, 4.3), (10, 10, 0.1), (25, 25, -6.3), (100, 100, -23.1)]
        {
            let found = thousandths([in_each_group; GROUPS], every);
            assert!((found - expected).abs() < 0.05, "{in_each_group} in each {every}.: {found}");
        }
    }

    #[test]
    fn single_failures_and_those_of_one_user_count_as_they_are() {
        for (name, failed, every, expected) in [
            ("a failure now and then", 1, 25, 2.0 / 60.0),
            ("a failure in each interval", 1, 1, 50.0 / 60.0),
            ("a user who always fails", 100, 1, 5_000.0 / 60.0),
        ] {
            let found = thousandths(from_fn(|group| if group == 7 { failed } else { 0 }), every);
            assert!((found - expected).abs() < 1e-3, "{name}: {found}, not {expected}");
        }
    }

    #[test]
    fn a_user_of_stable_who_fails_in_bursts_hides_no_worse_canary() {
        let stable = |failed: u64| from_fn(|group| if group == 7 { failed } else { 1 });
        let bursts =
            (0..100_u64).map(|at| of_each_100([5; GROUPS], stable(if at % 10 == 0 { 100 } else { 1 })));
        let found = difference_of(bursts);
        assert!((found - 0.04).abs() < 1e-3, "{found}");
    }
}
