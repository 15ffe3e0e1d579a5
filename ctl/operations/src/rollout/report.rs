//! What a driver has observed of a rollout, and done.

use canary_release::alert::RolloutResult;
use canary_release::assessment::Assessment;
use canary_release::evidence::ProxyCoverage;
use canary_release::record::Record;
use canary_release::rollout::{Decision, RolloutAction, RolloutPhase};
use serde::Serialize;

/// The observation of a rollout, and the action after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// The record afterwards.
    #[serde(skip)]
    pub record: Record,
    /// The decision, carried out or not, with its reason.
    pub decision: Decision,
    /// The assessment of the evidence.
    pub assessment: Assessment,
    /// The proxies whose counters were read.
    pub proxies: ProxyCoverage,
}

impl RolloutReport {
    /// The result of the rollout, once nothing is left to do for it.
    pub fn ended(&self) -> Option<RolloutResult> {
        let is_over =
            (self.decision.phase, self.decision.action) == (RolloutPhase::Ended, RolloutAction::Wait);
        let end = self.record.rollout.as_ref()?.ended.as_ref()?;
        is_over.then_some(end.result)
    }
}
