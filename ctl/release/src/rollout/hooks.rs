//! Condition of a step: the responses of hooks before it. Notifications are receivers of alerts.

use super::{Decision, Ending, Rollout, RolloutAction, RolloutObservation, RolloutPhase};
use crate::alert::AlertKind;
use crate::analysis::Outcome;
use crate::evidence::EvidenceVerdict;
use crate::hook::HookReport;
use crate::spec::HookType;
use assignment::Weight;
use jiff::Timestamp;

impl Rollout {
    /// The decision in the place of a step or a promotion while hooks before it have not passed.
    pub(crate) fn awaits_hooks(
        &self,
        step: &Decision,
        _: &RolloutObservation,
        now: Timestamp,
    ) -> Option<Decision> {
        for kind in self.hooks_before(step.action) {
            let reports: Vec<HookReport> = self
                .hook_reports()
                .filter(|report| report.hook.kind == *kind && !report.has_passed(now))
                .collect();
            if !reports.is_empty() {
                return Some(self.waiting_for(*kind, &reports));
            }
        }
        None
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

    /// The decision while hooks of a type have not passed.
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

    /// The reason of a hook that asks for a rollback.
    pub(crate) fn asked_to_roll_back(&self) -> Option<String> {
        let has_asked = |report: &HookReport| {
            report.hook.kind == HookType::Rollback
                && report.state.as_ref().is_some_and(|state| state.outcome == Outcome::Passed)
        };
        self.hook_reports().find(has_asked).map(|report| report.to_string())
    }

    /// Its hooks that decide, each with what its calls have said.
    pub(crate) fn hook_reports(&self) -> impl Iterator<Item = HookReport> {
        let hooks = self.hooks.iter().filter(|hook| !hook.kind.is_notification());
        hooks.map(|hook| HookReport { hook: hook.clone(), state: self.hook_states.get(&hook.name).cloned() })
    }
}
