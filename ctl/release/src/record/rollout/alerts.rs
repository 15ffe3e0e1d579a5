//! Alerts of a rollout. A transition and its alert are one write of the record; what lasts (a gate, a hold) is sent once for each step.

use crate::alert::{Alert, AlertKind};
use crate::record::Record;
use crate::rollout::decision::after;
use crate::rollout::{Decision, RolloutAction, RolloutPhase};
use crate::spec::{HookType, RolloutHook};
use assignment::contract::Role;
use jiff::Timestamp;

impl Record {
    /// Tells what a wait is about: that somebody has to decide, or that it lasts long. Whether that changed anything; what it changes is
    /// for the write of the record that the caller makes.
    pub fn note_wait(&mut self, decision: &Decision, now: Timestamp) -> bool {
        let is_wait = matches!(decision.action, RolloutAction::Wait | RolloutAction::Renew);
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| is_wait && rollout.is_active()) else {
            return false;
        };
        let stalled_after = rollout.policy.stalled_after;
        let state = &mut rollout.alerts;
        let is_stalled =
            decision.alert.is_none() && matches!(decision.phase, RolloutPhase::Held | RolloutPhase::Waiting);
        let before = state.stalled_since;
        if is_stalled {
            state.stalled_since = before.or(Some(now));
        } else {
            state.stalled_since = None;
            state.told.remove(&AlertKind::Stalled);
        }
        let has_changed = state.stalled_since != before;
        let is_long = before.is_some_and(|since| is_stalled && now >= after(since, stalled_after));
        let kind = decision.alert.or(is_long.then_some(AlertKind::Stalled));
        let Some(kind) = kind.filter(|kind| state.told.insert(*kind)) else { return has_changed };
        let reason = if is_long {
            format!("for {stalled_after}: {}", decision.reason)
        } else {
            decision.reason.clone()
        };
        self.alert(kind, &reason, now);
        true
    }

    /// Tells what a driver has decided, as a part of the same write.
    pub(super) fn alert_decision(&mut self, decision: &Decision, now: Timestamp) {
        let kind = match decision.action {
            RolloutAction::EnterStep(_) => AlertKind::Step,
            RolloutAction::End(result) => result.into(),
            RolloutAction::Decide(_) => match decision.alert {
                Some(kind) => kind,
                None => return,
            },
            RolloutAction::Wait
            | RolloutAction::Deploy
            | RolloutAction::Renew
            | RolloutAction::Execute(_) => return,
        };
        let consequence = match decision.action {
            RolloutAction::Decide(ending) => ending.consequence(),
            _ => "",
        };
        self.alert(kind, &format!("{}{consequence}", decision.reason), now);
    }

    /// Adds an alert of the rollout to those that are to be sent.
    pub(crate) fn alert(&mut self, kind: AlertKind, reason: &str, now: Timestamp) {
        let (uid, weight) = (&self.state.uid, self.state.weight);
        let stable = self.state.version_of(Role::Stable).map(str::to_owned);
        let Some(rollout) = self.rollout.as_mut() else { return };
        let alert = Alert {
            id: rollout.alerts.next_id(uid),
            kind,
            at: now,
            stable: stable.filter(|stable| *stable != rollout.canary),
            canary: rollout.canary.clone(),
            plan: rollout.plan_name.clone(),
            step: rollout.alert_step(),
            weight,
            reason: Alert::bounded(reason),
            counts: rollout.kind_counts(),
        };
        let is_notified = |hook: &&RolloutHook| match hook.kind {
            HookType::Event => true,
            HookType::PostRollout => kind.is_end(),
            _ => false,
        };
        let hooks: Vec<RolloutHook> = rollout.hooks.iter().filter(is_notified).cloned().collect();
        self.alerts.push(alert, &rollout.alerts.receivers, &hooks);
    }
}
