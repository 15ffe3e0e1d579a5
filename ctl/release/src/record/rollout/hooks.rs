//! The hooks that a driver calls now, and their results in the record.

use crate::alert::AlertKind;
use crate::hook::{CanaryPhase, HookPayload, HookReport, HookRequest, HookResult, HookState, checksum};
use crate::record::Record;
use crate::rollout::Decision;
use crate::spec::{HookType, ReleaseName, RolloutHook};
use jiff::Timestamp;

impl Record {
    /// The hook calls that are due: hooks that a decision waits for, and those that are called again and again while the rollout goes on.
    pub fn hook_requests(
        &self,
        decision: &Decision,
        release: &ReleaseName,
        now: Timestamp,
    ) -> Vec<HookRequest> {
        let active =
            self.rollout.as_deref().filter(|rollout| rollout.is_active() && rollout.ending.is_none());
        let Some(rollout) = active.filter(|rollout| rollout.suspended.is_none()) else { return Vec::new() };
        let is_in_force = self.measured_rollout(now).is_some();
        let is_wanted = |hook: &RolloutHook| match hook.kind {
            HookType::Rollback => true,
            HookType::Rollout => is_in_force,
            _ => decision.awaited_hooks.contains(&hook.name),
        };
        let wanted = rollout.hook_reports().filter(|report| is_wanted(&report.hook) && report.is_due(now));
        let checksum = checksum(&format!("{}-{}", self.state.uid, rollout.alerts.series()), &rollout.canary);
        let request = |HookReport { hook, .. }: HookReport| HookRequest {
            payload: HookPayload::new(release, phase(hook.kind, decision), checksum.clone()),
            hook,
            step_since: rollout.step_since(),
        };
        wanted.map(request).collect()
    }

    /// Adds what became of calls. Whether there was anything to add.
    pub fn add_hook_results(&mut self, results: &[HookResult]) -> bool {
        let mut has_changed = false;
        for result in results {
            if !self.lacks_hook_result(result) {
                continue;
            }
            let Some(rollout) = self.rollout.as_mut() else { continue };
            let state = HookState::followed_by(rollout.hook_states.get(&result.hook), result);
            rollout.hook_states.insert(result.hook.clone(), state);
            has_changed = true;
        }
        has_changed
    }

    /// Whether a result says something that the record does not have. It does not, if it was written, if another driver has called the hook
    /// in the same interval, and if the step that it is about is over.
    pub fn lacks_hook_result(&self, result: &HookResult) -> bool {
        let Some(rollout) = self.rollout.as_deref().filter(|rollout| rollout.is_active()) else {
            return false;
        };
        let report = rollout.hook_reports().find(|report| report.hook.name == result.hook);
        let is_new = |report: &HookReport| {
            let is_known = report.state.as_ref().is_some_and(|state| state.has_result_of(result.at));
            !is_known && report.is_due(result.at)
        };
        result.step_since == rollout.step_since() && report.as_ref().is_some_and(is_new)
    }
}

/// The phase of the rollout, as Flagger tells it the hooks of that type.
fn phase(kind: HookType, decision: &Decision) -> CanaryPhase {
    let tells_waiting = matches!(kind, HookType::ConfirmRollout | HookType::Rollback);
    let is_waiting = tells_waiting && decision.alert == Some(AlertKind::Gate);
    if is_waiting { CanaryPhase::Waiting } else { CanaryPhase::Progressing }
}
