//! Row: evidence that speaks against the canary holds a rollout for as long as `maxHeld`, which then ends as `onFailure` says.
//!
//! A hold for another reason (silent proxies, too few pods, a check) says nothing about the canary: the deadline ends it.

use super::decision::{Decision, after};
use super::{Rollout, RolloutObservation};
use crate::alert::AlertKind;
use crate::evidence::EvidenceVerdict;
use crate::spec::FailureAction;
use jiff::Timestamp;

impl Rollout {
    /// The evidence has spoken against the canary for too long, without being enough for a rollback.
    pub(crate) fn held_too_long(&self, seen: &RolloutObservation, now: Timestamp) -> Option<Decision> {
        let max_held = self.policy.max_held?;
        let is_held = seen.assessment.verdict == EvidenceVerdict::Hold;
        let is_too_long = is_held && self.held_until().is_some_and(|until| now >= until);
        let reason = || format!("held too long, for {max_held}: {}", seen.assessment.reason);
        is_too_long.then(|| self.failed(reason()).told_as(AlertKind::HeldTooLong))
    }

    /// When the hold ends the rollout; `None` without a hold, and without `maxHeld`.
    pub fn held_until(&self) -> Option<Timestamp> {
        Some(after(self.held_since?, self.policy.max_held?))
    }

    /// ``; unless that changes, the canary is rolled back at 2026-11-20T16:31:00Z``; nothing where no hold ends the rollout.
    pub(crate) fn end_of_hold(&self) -> String {
        let consequence = match self.policy.on_failure {
            _ if self.policy.observe => return String::new(),
            FailureAction::Rollback => "is rolled back",
            FailureAction::Stop => "receives no new users",
            FailureAction::Hold => return String::new(),
        };
        self.held_until()
            .map(|until| format!("; unless that changes, the canary {consequence} at {until:.0}"))
            .unwrap_or_default()
    }
}
