//! The other releases of the train whose rollout this is: what was counted of them is kept beside the evidence of the release itself.

use super::Rollout;
use crate::evidence::{Evidence, InnerEvidence, IntervalCounts};
use crate::record::{Record, TrainMember};
use crate::spec::ReleaseName;
use assignment::contract::Role;
use std::collections::BTreeMap;

/// A record keeps evidence of so many of them, the first by name: it is one object of Kubernetes, and written with each observation.
pub const MAX_INNER_RELEASES: usize = 8;

/// What another release of the train is: which versions are compared, and what of them are failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerRelease {
    /// Its canary.
    pub canary: String,
    /// Its stable version.
    pub stable: String,
    /// Its place in the train.
    pub member: TrainMember,
}

/// What was counted of the others between two observations.
pub type InnerIntervals = BTreeMap<ReleaseName, IntervalCounts>;

impl InnerRelease {
    /// Of the record of a release; `None` where it has no canary, or follows no gateway.
    pub fn of(record: &Record) -> Option<Self> {
        let member = record.train.as_deref().filter(|member| member.is_inner)?;
        let version = |role| record.state.version_of(role).map(str::to_owned);
        Some(Self { canary: version(Role::Canary)?, stable: version(Role::Stable)?, member: member.clone() })
    }

    fn is_that_of(&self, evidence: &InnerEvidence) -> bool {
        (&self.canary, &self.stable) == (&evidence.canary, &evidence.stable)
    }

    fn no_evidence(&self) -> InnerEvidence {
        let TrainMember { client_errors, slower_than, .. } = self.member;
        let evidence = Evidence::new(client_errors, slower_than.is_some());
        InnerEvidence { canary: self.canary.clone(), stable: self.stable.clone(), evidence }
    }
}

impl Record {
    /// The train whose other releases its rollout observes: that of a release behind gateways, while the rollout goes on.
    pub fn observed_train(&self) -> Option<&TrainMember> {
        let is_active = self.rollout.as_ref().is_some_and(|rollout| rollout.is_active());
        self.train.as_deref().filter(|member| is_active && !member.is_inner)
    }

    /// Notes which releases of the train were observed (`None`: one without a canary). Evidence about versions that have other roles by now is
    /// forgotten; that of a release that could not be observed stays. Whether the record has changed.
    pub fn note_train(&mut self, observed: &BTreeMap<ReleaseName, Option<InnerRelease>>) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let before: Vec<ReleaseName> = rollout.train.keys().cloned().collect();
        rollout.train.retain(|name, evidence| match observed.get(name) {
            None => true,
            Some(release) => release.as_ref().is_some_and(|release| release.is_that_of(evidence)),
        });
        let mut has_changed = rollout.train.len() != before.len();
        for (name, release) in observed {
            let Some(release) = release.as_ref().filter(|_| !rollout.train.contains_key(name)) else {
                continue;
            };
            if rollout.train.len() < MAX_INNER_RELEASES {
                rollout.train.insert(name.clone(), release.no_evidence());
                has_changed = true;
            }
        }
        has_changed
    }
}

impl Rollout {
    /// The kinds of failure of the other releases, all added up.
    pub(super) fn inner_kinds(&self) -> u64 {
        let kinds: usize = self.train.values().map(|inner| inner.evidence.kinds().count()).sum();
        kinds as u64
    }

    /// Adds what was counted of the others in the interval that is added.
    pub(super) fn add_inner(&mut self, intervals: &InnerIntervals) {
        for (name, interval) in intervals {
            if let Some(inner) = self.train.get_mut(name) {
                inner.evidence.add(interval);
            }
        }
    }
}
