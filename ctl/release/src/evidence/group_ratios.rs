//! How much likelier the failures of each user group are if the canary fails more, and what all groups say together.
//!
//! Within one interval and one group the share of the canary in all responses is p. If both versions fail alike, a failed response is one of
//! the canary's with probability p; if the canary fails R times as often, with `R·c / (R·c + s)`. The product of these ratios over
//! all failures of a group is a martingale while both fail alike, however often it is read and however the weight changes in between. So is
//! the product over all groups.
//!
//! What one group or one interval says is bounded, on both sides. Each bound makes the product smaller, or keeps a part of the stake, so
//! that its mean stays at most 1:
//!
//! * A group says [`MOST_OF_GROUP`] against the canary at most: a user, however often it fails, is one user.
//! * A group says [`KEPT`] for the canary at most: a user of stable that fails all the time hides no failure of the others.
//! * An interval says [`MOST_OF_INTERVAL`] against the canary at most, or what its first failure says: a pod that pauses is one event.

use super::{GROUPS, LogRatio, ResponseCount, VersionCounts, mean_of_exp};
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};
use std::array::from_fn;
use std::iter::zip;

/// How many times as often the canary may fail, under the alternatives that are averaged.
const RATIOS: [f64; 7] = [1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0];
/// Nats.
const MOST_OF_GROUP: f64 = 1.5;
/// The part of the stake of a group that its responses cannot lose: -2.3 nats.
const KEPT: f64 = 0.1;
/// Nats.
const MOST_OF_INTERVAL: f64 = 0.75;

/// The log-likelihood ratios of each group and each alternative. Its size does not grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct GroupRatios([[LogRatio; RATIOS.len()]; GROUPS]);

impl GroupRatios {
    /// Adds an interval in which the weight did not change.
    pub(super) fn add(&mut self, interval: &VersionCounts) {
        for (alternative, ratio) in RATIOS.into_iter().enumerate() {
            let said = bounded(log_ratios(interval, ratio), most_of_interval(interval, ratio));
            for (sums, said) in zip(&mut self.0, said) {
                if let Some(sum) = sums.get_mut(alternative) {
                    *sum = sum.times(LogRatio::from_nats(said));
                }
            }
        }
    }

    /// The logarithm of the evidence of all groups together, where failures cluster by user `spread` times as much as chance explains.
    pub(super) fn log_evidence(&self, spread: f64) -> f64 {
        mean_of_exp(from_fn::<f64, { RATIOS.len() }, _>(|alternative| {
            let of_group =
                |ratios: &[LogRatio; RATIOS.len()]| ratios.get(alternative).copied().unwrap_or_default();
            self.0.iter().map(|ratios| said_by_group(of_group(ratios).nats() / spread)).sum()
        }))
    }
}

/// What a group says, within its bounds.
pub(super) fn said_by_group(nats: f64) -> f64 {
    (1.0 - KEPT).mul_add(nats.min(MOST_OF_GROUP).exp(), KEPT).ln()
}

/// What the failures of each group say in one interval, in nats. A group in which one of the versions had no response says nothing about the
/// difference of both.
fn log_ratios(interval: &VersionCounts, ratio: f64) -> [f64; GROUPS] {
    let (mut canary, mut stable) = (interval.canary.groups(), interval.stable.groups());
    from_fn(|_| {
        let (canary, stable) = (canary.next().unwrap_or_default(), stable.next().unwrap_or_default());
        log_likelihood_ratio(canary, stable, ratio)
    })
}

/// The logarithm of the likelihood ratio of failures, canary `ratio` times as often against alike.
fn log_likelihood_ratio(canary: ResponseCount, stable: ResponseCount, ratio: f64) -> f64 {
    if canary.responses == 0 || stable.responses == 0 {
        return 0.0;
    }
    let scale = scale(canary, stable, ratio);
    as_f64(canary.failed) * (ratio * scale).ln() + as_f64(stable.failed) * scale.ln()
}

/// How much more or less likely a failure of stable is if the canary fails `ratio` times as often.
fn scale(canary: ResponseCount, stable: ResponseCount, ratio: f64) -> f64 {
    let (of_canary, of_stable) = (as_f64(canary.responses), as_f64(stable.responses));
    (of_canary + of_stable) / ratio.mul_add(of_canary, of_stable)
}

/// The most that an interval says: one failure counts whole, at any weight.
fn most_of_interval(interval: &VersionCounts, ratio: f64) -> f64 {
    let (canary, stable) = (interval.canary.total(), interval.stable.total());
    if canary.responses == 0 || stable.responses == 0 {
        return MOST_OF_INTERVAL;
    }
    MOST_OF_INTERVAL.max((ratio * scale(canary, stable, ratio)).ln())
}

/// The same with a sum of at most `most`: what speaks against the canary is cut, by the same part in each group.
fn bounded(said: [f64; GROUPS], most: f64) -> [f64; GROUPS] {
    let excess = said.iter().sum::<f64>() - most;
    if excess <= 0.0 {
        return said;
    }
    let against: f64 = said.iter().filter(|nats| **nats > 0.0).sum();
    said.map(|nats| if nats > 0.0 { nats * (1.0 - excess / against) } else { nats })
}
