//! How much likelier the failures of each user group are if the canary fails more, and what all groups say together.
//!
//! Within one interval and one group the share of the canary in the responses is p. If both versions fail alike, a failed response is one of
//! the canary's with probability p; if the canary fails R times as often, with `R·c / (R·c + s)`. The product of these ratios over
//! all failures of a group is a martingale while both fail alike, however often it is read and however the weight changes in between. So is
//! the product over all groups.
//!
//! One group and one interval say a bounded amount, on both sides. Each bound makes the product smaller, or keeps a part of the stake, so
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

/// The ratios of failure rates of the alternatives that are averaged.
const RATIOS: [f64; 7] = [1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0];
/// Nats.
const MOST_OF_GROUP: f64 = 1.5;
/// The part of the stake of a group that its responses cannot lose: -2.3 nats.
const KEPT: f64 = 0.1;
/// Nats.
const MOST_OF_INTERVAL: f64 = 0.75;
/// Responses.
const MORE: f64 = 5.0;

/// The log-likelihood ratios of each group and each alternative. Its size does not grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct GroupRatios([[LogRatio; RATIOS.len()]; GROUPS]);

/// The event that the failures of an interval share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nothing that is known.
    Usual,
    /// A pod of the canary has ended, which has so many, and stable so many: one event, whatever the weight is.
    EndOfPod([u64; 2]),
}

impl Moment {
    /// The most that an interval says: one failure counts whole, at any weight; the end of a pod as much as its chance to be one of the canary's.
    fn most(self, shares: &[Shares; GROUPS], ratio: f64) -> f64 {
        match self {
            Self::Usual => most_of_interval(shares, ratio),
            Self::EndOfPod([canary, stable]) => (as_f64(stable) / as_f64(canary.max(1))).ln_1p(),
        }
    }
}

impl GroupRatios {
    /// Adds an interval in which the weight did not change; `step` has all that was counted at this weight, the interval included.
    pub(super) fn add(&mut self, moment: Moment, interval: &VersionCounts, step: &VersionCounts) {
        let shares = shares(interval, step);
        for (alternative, ratio) in RATIOS.into_iter().enumerate() {
            let said = bounded(log_ratios(interval, &shares, ratio), moment.most(&shares, ratio));
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

/// The nats that a group says, within its bounds.
pub(super) fn said_by_group(nats: f64) -> f64 {
    (1.0 - KEPT).mul_add(nats.min(MOST_OF_GROUP).exp(), KEPT).ln()
}

/// The responses of a group in one interval, with some more in the proportion of the step: of a canary at 1 % an interval may have one response, or none,
/// and the share of one response says nothing about a failure.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    canary: f64,
    stable: f64,
}

fn shares(interval: &VersionCounts, step: &VersionCounts) -> [Shares; GROUPS] {
    let all = Shares::of(step.canary.total(), step.stable.total());
    let mut groups = zip(
        zip(interval.canary.groups(), interval.stable.groups()),
        zip(step.canary.groups(), step.stable.groups()),
    );
    from_fn(|_| {
        let Some(((canary, stable), (step_canary, step_stable))) = groups.next() else {
            return Shares::default();
        };
        let of_step = Shares::of(step_canary, step_stable).with(all.canary_part());
        Shares::of(canary, stable).with(of_step.canary_part())
    })
}

impl Shares {
    fn of(canary: ResponseCount, stable: ResponseCount) -> Self {
        Self { canary: as_f64(canary.responses), stable: as_f64(stable.responses) }
    }

    /// With [`MORE`] responses of which this part is the canary's.
    fn with(self, part: f64) -> Self {
        Self { canary: MORE.mul_add(part, self.canary), stable: MORE.mul_add(1.0 - part, self.stable) }
    }

    /// The canary's part, `0.0..=1.0`; 0 of none.
    fn canary_part(self) -> f64 {
        let all = self.canary + self.stable;
        if all > 0.0 { self.canary / all } else { 0.0 }
    }

    /// The factor on the probability of a failure of stable if the canary fails `ratio` times as often; nothing if one version has no responses.
    fn scale(self, ratio: f64) -> Option<f64> {
        let has_both = self.canary > 0.0 && self.stable > 0.0;
        has_both.then(|| (self.canary + self.stable) / ratio.mul_add(self.canary, self.stable))
    }
}

/// The nats that the failures of each group say in one interval.
fn log_ratios(interval: &VersionCounts, shares: &[Shares; GROUPS], ratio: f64) -> [f64; GROUPS] {
    let mut groups = zip(shares, zip(interval.canary.groups(), interval.stable.groups()));
    from_fn(|_| {
        groups.next().map_or(0.0, |(shares, (canary, stable))| {
            let says = |scale: f64| {
                as_f64(canary.failed) * (ratio * scale).ln() + as_f64(stable.failed) * scale.ln()
            };
            shares.scale(ratio).map_or(0.0, says)
        })
    })
}

/// The most that an interval says: one failure counts whole, at any weight.
fn most_of_interval(shares: &[Shares; GROUPS], ratio: f64) -> f64 {
    let sum = |of: fn(&Shares) -> f64| shares.iter().map(of).sum();
    let all = Shares { canary: sum(|shares| shares.canary), stable: sum(|shares| shares.stable) };
    all.scale(ratio).map_or(MOST_OF_INTERVAL, |scale| MOST_OF_INTERVAL.max((ratio * scale).ln()))
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
