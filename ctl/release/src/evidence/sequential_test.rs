//! How much likelier the counts are if the canary fails more often than stable.
//!
//! The test bets, at each failure, that it is one of the canary's. What the stake has become is the evidence. While both versions fail alike its
//! mean is at most 1, however often it is read, so it exceeds 20 at any time with probability below 1/20.
//!
//! Half of the stake is bet from the start of the rollout on. A canary that is good for a day loses it, and what fails on the second day would
//! have to win it back. So the other half is bet in parts, a new one each hour; what a part has become by the end of its hour is kept.

use super::group_ratios::{GroupRatios, Moment};
use super::rate_comparison::{RateDifferences, RateRatios};
use super::spread::dispersion;
use super::{LogRatio, RateRatio, VersionCounts, sum_of_exp};
use serde::{Deserialize, Serialize};

/// The seconds after which the next part of the stake is bet.
const PART_SECONDS: u64 = 3_600;

/// The test for one kind of failure. Its size does not grow. The fields that an earlier canary-ctl has written for another test are ignored: such a
/// rollout begins to collect evidence again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SequentialTest {
    /// Everything that was counted.
    counts: VersionCounts,
    #[serde(default)]
    rates: RateRatios,
    /// The bet of the whole rollout.
    #[serde(default)]
    rollout: Bet,
    /// The bet of this hour.
    #[serde(default)]
    hour: Bet,
    /// Seconds of this hour.
    #[serde(default)]
    seconds: u64,
    /// The number of hours that are over.
    #[serde(default)]
    hours: u32,
    /// The stake that the bets of the hours that are over have left, together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<LogRatio>,
}

/// The sums of a part of the stake since it was bet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bet {
    ratios: GroupRatios,
    differences: RateDifferences,
}

impl SequentialTest {
    /// Adds what was counted in an interval of so many seconds in which the weight did not change. `step` has all that was counted at this
    /// weight, the interval included.
    pub fn add(&mut self, interval: &VersionCounts, step: &VersionCounts, seconds: u64) {
        self.add_as(Moment::Usual, interval, step, seconds);
    }

    /// The same of an interval that says what a moment says.
    pub(super) fn add_as(
        &mut self,
        moment: Moment,
        interval: &VersionCounts,
        step: &VersionCounts,
        seconds: u64,
    ) {
        self.counts.add(interval);
        self.rates.add(interval.canary.total(), interval.stable.total());
        self.rollout.add(moment, interval, step);
        self.hour.add(moment, interval, step);
        self.seconds = self.seconds.saturating_add(seconds);
        if self.seconds >= PART_SECONDS {
            self.end_hour();
        }
    }

    /// Keeps what this hour's bet has become.
    fn end_hour(&mut self) {
        let kept = self.kept.map_or(f64::NEG_INFINITY, LogRatio::nats);
        let kept = sum_of_exp([kept, self.of_hour(self.spread())]);
        self.kept = Some(LogRatio::from_nats(kept));
        self.hours = self.hours.saturating_add(1);
        (self.hour, self.seconds) = (Bet::default(), 0);
    }

    /// The likelihood ratio of the counts if the canary fails more often.
    pub fn log_evidence(&self) -> LogRatio {
        let spread = self.spread();
        let of_rollout = 0.5_f64.ln() + self.rollout.ratios.log_evidence(spread);
        let kept = self.kept.map_or(f64::NEG_INFINITY, LogRatio::nats);
        LogRatio::from_nats(sum_of_exp([of_rollout, self.of_hour(spread), kept, self.not_bet().ln()]))
    }

    /// The logarithm of the stake that the bet of this hour has left.
    fn of_hour(&self, spread: f64) -> f64 {
        let hours = f64::from(self.hours);
        let stake = self.not_bet() / (hours + 1.0);
        stake.ln() + self.hour.ratios.log_evidence(spread)
    }

    /// The part of the stake that later hours have: a half, a third, a quarter, … of the half that the rollout's bet does not have.
    fn not_bet(&self) -> f64 {
        0.5 / (f64::from(self.hours) + 2.0)
    }

    /// The rate of failures of the canary minus that of stable, as they were at the same time, without the user groups in which stable is worst:
    /// of the rollout, or of this hour where it is larger. 0 where both were never seen in one interval.
    pub fn rate_difference(&self) -> f64 {
        f64::max(self.rollout.differences.difference(), self.hour.differences.difference())
    }

    /// The ratio of the failure rates, canary to stable, at the same time, over the rollout. `None` if one of both
    /// had no failure.
    pub fn rate_ratio(&self) -> Option<RateRatio> {
        self.rates.ratio(self.spread())
    }

    /// Everything that was counted.
    pub const fn counts(&self) -> &VersionCounts {
        &self.counts
    }

    /// The clustering of failures by user, at least 1.
    pub fn spread(&self) -> f64 {
        dispersion(&self.counts.stable)
    }
}

impl Bet {
    fn add(&mut self, moment: Moment, interval: &VersionCounts, step: &VersionCounts) {
        self.ratios.add(moment, interval, step);
        self.differences.add(interval);
    }
}

#[cfg(test)]
#[path = "sequential_test_tests.rs"]
mod tests;
