//! A decision, done to the record: one write, so that it is done wholly or not at all.

use crate::alert::{AlertKind, RolloutResult};
use crate::evidence::IntervalCounts;
use crate::record::{Author, Operation, Record};
use crate::rollout::decision::{after, seconds};
use crate::rollout::state::CurrentStep;
use crate::rollout::{CanaryRole, Decision, InnerIntervals, RolloutAction, RolloutEnd};
use assignment::Weight;
use assignment::contract::{Role, Until};
use jiff::Timestamp;

impl Record {
    /// Adds what was counted since an observation at which the rollout had `known` intervals. Does nothing if another driver
    /// has added one since: both would hold the same responses. `inner` is the same interval of the other releases of the train. Whether it was
    /// added.
    pub fn add_evidence(&mut self, known: u64, interval: &IntervalCounts, inner: &InnerIntervals) -> bool {
        let active = self.rollout.as_mut().filter(|rollout| rollout.is_active());
        let Some(rollout) = active.filter(|rollout| rollout.evidence.intervals == known) else {
            return false;
        };
        rollout.evidence.add(interval);
        rollout.add_inner(inner);
        true
    }

    /// The role of the version that the rollout is about.
    pub fn rollout_role(&self) -> CanaryRole {
        let canary = self.rollout.as_ref().map(|rollout| rollout.canary.as_str());
        let has = |role| canary.is_some() && self.state.version_of(role) == canary;
        match (has(Role::Canary), has(Role::Stable)) {
            (true, _) => CanaryRole::Canary,
            (_, true) => CanaryRole::Stable,
            _ => CanaryRole::Gone,
        }
    }

    /// Does what a decision says to the record. Whether it changed anything: what is waited for, deployed or executed is
    /// no change of the record.
    pub fn apply_decision(&mut self, decision: &Decision, by: Author<'_>) -> bool {
        let Some(rollout) = self.rollout.as_mut() else { return false };
        let is_changed = match decision.action {
            RolloutAction::EnterStep(index) => self.enter_step(index, by),
            RolloutAction::Renew => {
                let (weight, until) = (self.state.weight, self.expiry(by.at));
                self.set_weight(weight, until, by, Operation::Rollout);
                true
            }
            RolloutAction::Decide(ending) => {
                rollout.ending = Some((ending, decision.reason.clone()));
                true
            }
            RolloutAction::End(result) => {
                rollout.ended = Some(RolloutEnd { result, reason: decision.reason.clone(), at: by.at });
                if result == RolloutResult::Completed {
                    // The weight stays, and with it the canary: nobody renews it any more.
                    self.state.until = None;
                }
                self.count_by_group(None, by);
                true
            }
            RolloutAction::Wait | RolloutAction::Deploy | RolloutAction::Execute(_) => false,
        };
        if is_changed {
            self.alert_decision(decision, by.at);
        }
        is_changed
    }

    /// No new users for the canary, as the end of a rollout.
    pub fn stop_rollout(&mut self, by: Author<'_>) {
        self.set_weight(Weight::ZERO, None, by, Operation::Rollout);
    }

    /// The release is uninstalled, and with it the rollout. Whether one went on: that is told.
    pub fn end_rollout_by_uninstallation(&mut self, by: Author<'_>) -> bool {
        if !self.rollout.as_ref().is_some_and(|rollout| rollout.is_active()) {
            return false;
        }
        let reason = format!("{} has uninstalled the release", by.name);
        self.alert(AlertKind::Aborted, &reason, by.at);
        let result = RolloutResult::RolledBack;
        if let Some(rollout) = self.rollout.as_mut() {
            rollout.ended = Some(RolloutEnd { result, reason, at: by.at });
        }
        true
    }

    fn enter_step(&mut self, index: usize, by: Author<'_>) -> bool {
        let until = self.expiry(by.at);
        let Some(rollout) = self.rollout.as_mut() else { return false };
        let Some(step) = rollout.plan.get(index).copied() else { return false };
        rollout.step = Some(CurrentStep { index, since: by.at, approved_by: None });
        rollout.begin_step();
        // Sessions are compared with those of their own step. The same write as the weight: no proxy has one without the other.
        self.state.rollout_since_seconds = seconds(by.at);
        self.set_weight(step.weight, until, by, Operation::Rollout);
        true
    }

    /// When a weight that is written now ends by itself.
    fn expiry(&self, now: Timestamp) -> Option<Until> {
        let expires_in = self.rollout.as_ref()?.policy.expires_in;
        Some(Until { at_seconds: seconds(after(now, expires_in)), action: self.on_expiry })
    }
}
