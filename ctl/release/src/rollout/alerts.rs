//! Which transitions of a rollout are told. An alert is written into the record with the transition that it tells: what a driver or somebody
//! does with it once, and what lasts (a gate, a hold) once for each step.

use super::decision::after;
use super::{Decision, Ending, Rollout, RolloutAction, RolloutPhase};
use crate::alert::{Alert, AlertKind, AlertStep, KindCounts};
use crate::record::Record;
use crate::spec::{AlertReceiver, HookType, RolloutHook};
use assignment::contract::Role;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Kinds of failure of other releases that an alert has: a record keeps many alerts.
const MAX_INNER_COUNTS: usize = 4;

/// Who is told of a rollout, and what was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertState {
    /// Who is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<AlertReceiver>,
    /// When the rollout was started, seconds since 1970-01-01 UTC: a part of the ids.
    series: u64,
    /// The number of its alerts.
    count: u64,
    /// What lasts and was told since the step began.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    told: BTreeSet<AlertKind>,
    /// Since when it does not go on, though nobody is to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stalled_since: Option<Timestamp>,
}

impl AlertState {
    pub(super) fn begin(receivers: Vec<AlertReceiver>, now: Timestamp) -> Self {
        Self { receivers, series: super::decision::seconds(now), ..Self::default() }
    }

    /// When the rollout was started, seconds since 1970-01-01 UTC.
    pub(super) const fn series(&self) -> u64 {
        self.series
    }

    /// Somebody has decided: a gate behind the one that was told is told, too.
    pub(super) fn pass_gate(&mut self) {
        self.told.remove(&AlertKind::Gate);
    }

    /// A step begins: what lasts is told again.
    pub(super) fn begin_step(&mut self) {
        self.told.clear();
        self.stalled_since = None;
    }
}

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
        rollout.alerts.count += 1;
        let alert = Alert {
            id: format!("{uid}-{}-{}", rollout.alerts.series, rollout.alerts.count),
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

impl Rollout {
    /// What it has counted: of the other releases of its train what speaks against the canary.
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

    fn alert_step(&self) -> Option<AlertStep> {
        self.step.as_ref().map(|step| AlertStep { number: step.index + 1, of: self.plan.len() })
    }
}

impl Ending {
    /// What is done, as the end of a sentence.
    pub(super) const fn consequence(self) -> &'static str {
        match self {
            Self::Promote => "; the canary is promoted",
            Self::Rollback => "; the canary is rolled back",
            Self::Stop => "; the canary receives no new users",
        }
    }
}
