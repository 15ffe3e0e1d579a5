//! The hooks of a rollout: which are called now, and what their responses let the rollout do. Notifications are recipients of alerts.

use super::{Decision, Ending, Rollout, RolloutAction, RolloutPhase};
use crate::alert::AlertKind;
use crate::analysis::Outcome;
use crate::evidence::EvidenceVerdict;
use crate::hook::{CanaryPhase, HookPayload, HookReport, HookRequest, HookResult, HookState, checksum};
use crate::record::Record;
use crate::spec::{HookType, ReleaseName, RolloutHook};
use assignment::Weight;
use jiff::Timestamp;

impl Record {
    /// What is to be called now: the hooks that a decision waits for, and those that are called again and again while the rollout goes on.
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

impl Rollout {
    /// The same decision if all hooks before it have passed; or what keeps it from being done.
    pub(super) fn gated(&self, decision: Decision, now: Timestamp) -> Decision {
        for kind in self.hooks_before(decision.action) {
            let reports: Vec<HookReport> = self
                .hook_reports()
                .filter(|report| report.hook.kind == *kind && !report.has_passed(now))
                .collect();
            if !reports.is_empty() {
                return self.waiting_for(*kind, &reports);
            }
        }
        decision
    }

    /// The types of hooks that come before an action, each after those before it.
    fn hooks_before(&self, action: RolloutAction) -> &'static [HookType] {
        let weight = |index: usize| self.plan.get(index).map_or(Weight::ZERO, |step| step.weight);
        let has_users = self.current().is_some_and(|step| step.weight > Weight::ZERO);
        match action {
            RolloutAction::EnterStep(index) if weight(index) == Weight::ZERO => &[],
            RolloutAction::EnterStep(_) if has_users => &[HookType::ConfirmTrafficIncrease],
            RolloutAction::EnterStep(_) => {
                &[HookType::ConfirmRollout, HookType::PreRollout, HookType::ConfirmTrafficIncrease]
            }
            RolloutAction::Decide(Ending::Promote) => &[HookType::ConfirmPromotion],
            _ => &[],
        }
    }

    /// What is done while hooks of a type have not passed.
    fn waiting_for(&self, kind: HookType, reports: &[HookReport]) -> Decision {
        let verdict = |report: &HookReport| report.verdict().filter(|_| kind.is_check());
        if let Some(failed) = reports.iter().find(|report| verdict(report) == Some(EvidenceVerdict::Rollback))
        {
            return self.failed(failed.to_string());
        }
        let is_held = reports.iter().any(|report| verdict(report) == Some(EvidenceVerdict::Hold));
        let phase = if is_held { RolloutPhase::Held } else { RolloutPhase::Waiting };
        let reasons: Vec<String> = reports.iter().map(ToString::to_string).collect();
        // Nobody is to approve what has not responded, or has failed.
        let is_gate = !kind.is_check() && reports.iter().any(HookReport::is_closed);
        Decision {
            awaited_hooks: reports.iter().map(|report| report.hook.name.clone()).collect(),
            alert: is_gate.then_some(AlertKind::Gate),
            ..Decision::wait(phase, reasons.join("; "))
        }
    }

    /// Why a hook asks for a rollback.
    pub(super) fn asked_to_roll_back(&self) -> Option<String> {
        let has_asked = |report: &HookReport| {
            report.hook.kind == HookType::Rollback
                && report.state.as_ref().is_some_and(|state| state.outcome == Outcome::Passed)
        };
        self.hook_reports().find(has_asked).map(|report| report.to_string())
    }

    /// Its hooks that decide, each with what its calls have said.
    pub(super) fn hook_reports(&self) -> impl Iterator<Item = HookReport> {
        let hooks = self.hooks.iter().filter(|hook| !hook.kind.is_notification());
        hooks.map(|hook| HookReport { hook: hook.clone(), state: self.hook_states.get(&hook.name).cloned() })
    }
}

/// What the rollout does, as Flagger tells it the hooks of that type.
fn phase(kind: HookType, decision: &Decision) -> CanaryPhase {
    let tells_waiting = matches!(kind, HookType::ConfirmRollout | HookType::Rollback);
    let is_waiting = tells_waiting && decision.alert == Some(AlertKind::Gate);
    if is_waiting { CanaryPhase::Waiting } else { CanaryPhase::Progressing }
}
