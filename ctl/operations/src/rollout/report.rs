//! What a driver has observed of a rollout, and done.

use canary_release::alert::RolloutResult;
use canary_release::assessment::Assessment;
use canary_release::evidence::ProxyCoverage;
use canary_release::record::Record;
use canary_release::rollout::{Decision, RolloutAction, RolloutPhase};
use serde::Serialize;

/// What was observed of a rollout, and done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// The record afterwards.
    #[serde(skip)]
    pub record: Record,
    /// What was done, or would be done, and why.
    pub decision: Decision,
    /// What the evidence says.
    pub assessment: Assessment,
    /// The proxies whose counters were read.
    pub proxies: ProxyCoverage,
}

impl RolloutReport {
    /// How the rollout has ended, once nothing is left to do for it.
    pub fn ended(&self) -> Option<RolloutResult> {
        let is_over =
            (self.decision.phase, self.decision.action) == (RolloutPhase::Ended, RolloutAction::Wait);
        let end = self.record.rollout.as_ref()?.ended.as_ref()?;
        is_over.then_some(end.result)
    }
}
