//! The other releases of the train in the record of the release whose rollout this is.

use crate::evidence::{Evidence, InnerEvidence};
use crate::record::Record;
use crate::rollout::{InnerRelease, MAX_INNER_RELEASES};
use crate::spec::ReleaseName;
use crate::state::TrainMember;
use assignment::contract::Role;
use std::collections::BTreeMap;

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
        let evidence = Evidence::new(self.member.optional_kinds());
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
