//! The other releases of the train: kinds of failure and intervals, beside the evidence of the release itself.

use super::Rollout;
use crate::evidence::IntervalCounts;
use crate::spec::ReleaseName;
use crate::state::TrainMember;
use std::collections::BTreeMap;

/// A record keeps evidence of so many of them, the first by name: it is one object of Kubernetes, and written with each observation.
pub const MAX_INNER_RELEASES: usize = 8;

/// Another release of the train: the compared versions, and their failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerRelease {
    /// Its canary.
    pub canary: String,
    /// Its stable version.
    pub stable: String,
    /// Its place in the train.
    pub member: TrainMember,
}

/// The counts of the others between two observations.
pub type InnerIntervals = BTreeMap<ReleaseName, IntervalCounts>;

impl Rollout {
    /// The kinds of failure of the other releases, all added up.
    pub(crate) fn inner_kinds(&self) -> u64 {
        let kinds: usize = self.train.values().map(|inner| inner.evidence.kinds().count()).sum();
        kinds as u64
    }

    /// Adds what was counted of the others in the interval that is added.
    pub(crate) fn add_inner(&mut self, intervals: &InnerIntervals) {
        for (name, interval) in intervals {
            if let Some(inner) = self.train.get_mut(name) {
                inner.evidence.add(interval);
            }
        }
    }
}
