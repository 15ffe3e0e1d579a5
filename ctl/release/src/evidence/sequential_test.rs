//! How much likelier the counts are if the canary fails more often than stable.
//!
//! Within one interval the share of the canary in all responses is p. If both versions fail alike, a failed response is
//! one of the canary's with probability p; if the canary fails R times as often, with `R·c / (R·c + s)`. The product of
//! these ratios over all failures so far, averaged over several R, is a martingale while both fail alike: it exceeds 20
//! at any time with probability below 1/20, however often it is read and however the weight changes in between.

use super::spread::dispersion;
use super::{GROUPS, LogRatio, ResponseCount, VersionCounts};
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};
use std::iter::zip;

/// How many times as often the canary may fail, under the alternatives that are averaged.
const RATIOS: [f64; 6] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0];

/// The test for one kind of failure. Its size does not grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialTest {
    /// Everything that was counted.
    counts: VersionCounts,
    /// The log-likelihood ratio of each alternative, with each group left out.
    log_ratios: [[LogRatio; RATIOS.len()]; GROUPS],
    /// Numerator and denominator of the difference of rates, in thousandths of a response.
    difference: [i64; 2],
}

/// Thousandths of a response.
const MILLI: f64 = 1e3;

impl SequentialTest {
    /// Adds what was counted in an interval in which the weight did not change. Intervals in which one of the versions had
    /// no response say nothing about the difference of both.
    pub fn add(&mut self, interval: &VersionCounts) {
        self.counts.add(interval);
        for (left_out, log_ratios) in self.log_ratios.iter_mut().enumerate() {
            let canary = interval.canary.total_without(left_out);
            let stable = interval.stable.total_without(left_out);
            for (sum, ratio) in zip(log_ratios, RATIOS) {
                *sum = sum.times(LogRatio::from_nats(log_likelihood_ratio(canary, stable, ratio)));
            }
        }
        let (numerator, denominator) = difference(interval.canary.total(), interval.stable.total());
        let [sum, weight] = &mut self.difference;
        *sum = sum.saturating_add(milli(numerator));
        *weight = weight.saturating_add(milli(denominator));
    }

    /// How many times likelier the counts are if the canary fails more often, with that user group left out without
    /// which this is least.
    pub fn log_evidence(&self) -> LogRatio {
        let each = self.log_ratios.iter().enumerate().map(|(left_out, log_ratios)| {
            let spread = dispersion([&self.counts.canary, &self.counts.stable], left_out);
            mean_of_exp(log_ratios.map(|log| log.nats() / spread))
        });
        LogRatio::from_nats(each.fold(f64::INFINITY, f64::min))
    }

    /// The rate of failures of the canary minus that of stable, as they were at the same time: the difference of Mantel
    /// and Haenszel over the intervals. 0 where both were never seen in one interval.
    pub fn rate_difference(&self) -> f64 {
        let [numerator, denominator] = self.difference;
        if denominator == 0 { 0.0 } else { signed(numerator) / signed(denominator) }
    }

    /// Everything that was counted.
    pub const fn counts(&self) -> &VersionCounts {
        &self.counts
    }

    /// The larger spread of failures by user, at least 1 (see [`Self::log_evidence`]).
    pub fn spread(&self) -> f64 {
        dispersion([&self.counts.canary, &self.counts.stable], GROUPS)
    }
}

/// The logarithm of the likelihood ratio of an interval's failures, canary `ratio` times as often against alike.
fn log_likelihood_ratio(canary: ResponseCount, stable: ResponseCount, ratio: f64) -> f64 {
    if canary.responses == 0 || stable.responses == 0 {
        return 0.0;
    }
    let (of_canary, of_stable) = (as_f64(canary.responses), as_f64(stable.responses));
    let scale = (of_canary + of_stable) / ratio.mul_add(of_canary, of_stable);
    as_f64(canary.failed) * (ratio * scale).ln() + as_f64(stable.failed) * scale.ln()
}

/// Numerator and denominator of an interval's part of the Mantel-Haenszel difference.
///
/// # Source
/// S. Greenland and J. Robins, "Estimation of a common effect parameter from sparse follow-up data", Biometrics 41 (1985).
fn difference(canary: ResponseCount, stable: ResponseCount) -> (f64, f64) {
    let (of_canary, of_stable) = (as_f64(canary.responses), as_f64(stable.responses));
    let all = of_canary + of_stable;
    if canary.responses == 0 || stable.responses == 0 {
        return (0.0, 0.0);
    }
    let numerator = as_f64(canary.failed) * of_stable / all - as_f64(stable.failed) * of_canary / all;
    (numerator, of_canary * of_stable / all)
}

/// The logarithm of the mean of the exponentials, without overflow.
fn mean_of_exp(logs: [f64; RATIOS.len()]) -> f64 {
    let largest = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.into_iter().map(|log| (log - largest).exp()).sum();
    largest + (sum / as_f64(RATIOS.len() as u64)).ln()
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, at 10^15 responses")]
fn milli(count: f64) -> i64 {
    (count * MILLI).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
const fn signed(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
#[path = "sequential_test_tests.rs"]
mod tests;
