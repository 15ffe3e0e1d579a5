//! What a rollout keeps for its alerts: receivers, the kinds that were sent for a step, and counts of responses.

use super::{Ending, Rollout};
use crate::alert::{AlertKind, AlertStep, KindCounts};
use crate::spec::AlertReceiver;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Kinds of failure of other releases that an alert has: a record keeps many alerts.
const MAX_INNER_COUNTS: usize = 4;

/// The alert receivers of a rollout, and the alerts that were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertState {
    /// The alert receivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<AlertReceiver>,
    /// When the rollout was started, seconds since 1970-01-01 UTC: a part of the ids.
    series: u64,
    /// The number of its alerts.
    count: u64,
    /// Lasting alerts that were sent since the step began.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) told: BTreeSet<AlertKind>,
    /// Since when it does not go on, though nobody is to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stalled_since: Option<Timestamp>,
}

impl AlertState {
    pub(crate) fn begin(receivers: Vec<AlertReceiver>, now: Timestamp) -> Self {
        Self { receivers, series: super::decision::seconds(now), ..Self::default() }
    }

    /// When the rollout was started, seconds since 1970-01-01 UTC.
    pub(crate) const fn series(&self) -> u64 {
        self.series
    }

    /// The id of the next alert of a release with this uid.
    pub(crate) fn next_id(&mut self, uid: &str) -> String {
        self.count += 1;
        format!("{uid}-{}-{}", self.series, self.count)
    }

    /// Somebody has decided: a gate behind the one that was told is told, too.
    pub(crate) fn pass_gate(&mut self) {
        self.told.remove(&AlertKind::Gate);
    }

    /// A step begins: what lasts is told again.
    pub(crate) fn begin_step(&mut self) {
        self.told.clear();
        self.stalled_since = None;
    }
}

impl Rollout {
    /// Its counts: of the other releases of its train those that speak against the canary.
    pub(crate) fn kind_counts(&self) -> Vec<KindCounts> {
        let criteria = self.criteria();
        let inner = self
            .train
            .iter()
            .flat_map(|(name, inner)| KindCounts::of_evidence(Some(name), &inner.evidence, &criteria));
        let mut counts: Vec<_> = KindCounts::of_evidence(None, &self.evidence, &criteria).collect();
        counts.extend(inner.take(MAX_INNER_COUNTS));
        counts
    }

    pub(crate) fn alert_step(&self) -> Option<AlertStep> {
        self.step.as_ref().map(|step| AlertStep { number: step.index + 1, of: self.plan.len() })
    }
}

impl Ending {
    /// The action, as the end of a sentence.
    pub(crate) const fn consequence(self) -> &'static str {
        match self {
            Self::Promote => "; the canary is promoted",
            Self::Rollback => "; the canary is rolled back",
            Self::Stop => "; the canary receives no new users",
        }
    }
}
