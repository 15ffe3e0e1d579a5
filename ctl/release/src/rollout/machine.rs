//! The next step of a rollout, and why: a table of rows, then a table of conditions.

use super::decision::{after, seconds};
use super::stable_pods::with_scaled_down;
use super::{
    CanaryRole, Decision, Ending, Rollout, RolloutAction, RolloutObservation, RolloutPhase, Suspension,
};
use crate::alert::{AlertKind, RolloutResult};
use crate::evidence::EvidenceVerdict;
use crate::spec::{FailureAction, Gate, RolloutStep, Seconds, SuccessAction};
use assignment::Weight;
use assignment::contract::ExpiryAction;
use jiff::Timestamp;

/// The reason for which a weight is set again, or the canary rolled back.
const EXPIRED: &str = "the weight has expired: no driver has renewed it";

/// A row of the table: what it decides, if it fits.
type Row = fn(&Rollout, &RolloutObservation, Timestamp) -> Option<Decision>;

/// The conditions before the next step, in order: the first row that fits decides.
const ROWS: [Row; 8] = [
    Rollout::end,
    Rollout::interrupted,
    Rollout::past_deadline,
    Rollout::expired_for_good,
    Rollout::rolled_back_by_hook,
    Rollout::held_too_long,
    Rollout::evidence_against,
    Rollout::fused,
];

/// The decision in the place of a step or a promotion whose condition does not hold.
type Condition = fn(&Rollout, &Decision, &RolloutObservation, Timestamp) -> Option<Decision>;

/// The conditions of a step and of the promotion, in order: the first that does not hold decides. One file a condition.
const CONDITIONS: [Condition; 4] =
    [Rollout::lacks_stable_pods, Rollout::outside_windows, Rollout::lacks_dependency, Rollout::awaits_hooks];

impl Rollout {
    /// The next decision. It changes nothing.
    pub fn next(&self, seen: &RolloutObservation, now: Timestamp) -> Decision {
        let decision = ROWS.iter().find_map(|row| row(self, seen, now)).unwrap_or_else(|| {
            let step = self.progress(seen, now);
            let unmet = CONDITIONS.iter().find_map(|condition| condition(self, &step, seen, now));
            unmet.unwrap_or(step)
        });
        self.renewed(with_scaled_down(decision, seen), seen, now)
    }

    /// The rollout has ended, or is about to.
    fn end(&self, seen: &RolloutObservation, _: Timestamp) -> Option<Decision> {
        let decide = |phase, action, reason: &str| Some(Decision::new(phase, action, reason));
        if let Some(end) = &self.ended {
            let action = if seen.is_deployed { RolloutAction::Wait } else { RolloutAction::Deploy };
            return decide(RolloutPhase::Ended, action, &format!("{}: {}", end.result, end.reason));
        }
        let Some((ending, reason)) = &self.ending else {
            return match seen.role {
                CanaryRole::Canary => None,
                CanaryRole::Stable => {
                    let reason = "the version was promoted by hand";
                    decide(RolloutPhase::Ended, RolloutAction::End(RolloutResult::Promoted), reason)
                }
                CanaryRole::Gone => {
                    let reason = "the version is no longer the canary";
                    decide(RolloutPhase::Ended, RolloutAction::End(RolloutResult::RolledBack), reason)
                }
            };
        };
        let result = match seen.role {
            CanaryRole::Stable => Some(RolloutResult::Promoted),
            CanaryRole::Gone => Some(RolloutResult::RolledBack),
            CanaryRole::Canary if *ending == Ending::Stop && seen.weight == Weight::ZERO => {
                Some(RolloutResult::Stopped)
            }
            CanaryRole::Canary => None,
        };
        match result {
            Some(result) if seen.is_deployed => {
                decide(RolloutPhase::Ended, RolloutAction::End(result), reason)
            }
            _ => decide(RolloutPhase::Ending, RolloutAction::Execute(*ending), reason),
        }
    }

    /// A person has interfered, or a call was killed before it had written the objects of the record.
    fn interrupted(&self, seen: &RolloutObservation, _: Timestamp) -> Option<Decision> {
        if let Some(suspension) = &self.suspended {
            return Some(Decision::new(RolloutPhase::Suspended, RolloutAction::Wait, suspension.to_string()));
        }
        let reason = "a write of the record has not reached the objects";
        (!seen.is_deployed).then(|| Decision::new(RolloutPhase::Progressing, RolloutAction::Deploy, reason))
    }

    /// The deadline has passed. That a canary was not seen for long enough is no failure of the canary: it takes no new users, and its sessions
    /// finish.
    fn past_deadline(&self, seen: &RolloutObservation, now: Timestamp) -> Option<Decision> {
        if !self.is_past_deadline(now) {
            return None;
        }
        let reason = format!("the deadline of {} has passed", self.policy.deadline);
        if self.policy.observe {
            let end = RolloutAction::End(RolloutResult::Observed);
            return Some(Decision::new(RolloutPhase::Ended, end, reason));
        }
        if seen.assessment.speaks_against() {
            let reason = format!("{reason}; {}", seen.assessment.reason);
            return Some(self.failed(reason).told_as(AlertKind::Deadline));
        }
        if self.policy.on_failure == FailureAction::Hold {
            return Some(self.failed(reason).told_as(AlertKind::Deadline));
        }
        let reason = format!("{reason}; nothing speaks against the canary: {}", seen.assessment.reason);
        let stop = RolloutAction::Decide(Ending::Stop);
        Some(Decision::new(RolloutPhase::Ending, stop, reason).told_as(AlertKind::Deadline))
    }

    pub(crate) fn is_past_deadline(&self, now: Timestamp) -> bool {
        now > after(self.started_at, self.policy.deadline)
    }

    /// The weight has ended because no driver was there, and with it the canary: its users are on stable.
    fn expired_for_good(&self, seen: &RolloutObservation, now: Timestamp) -> Option<Decision> {
        let is_rollback = seen.until.is_some_and(|until| until.action == ExpiryAction::Rollback);
        (is_rollback && self.has_expired(seen, now)).then(|| {
            let decide = RolloutAction::Decide(Ending::Rollback);
            Decision::new(RolloutPhase::Ending, decide, EXPIRED).told_as(AlertKind::Failed)
        })
    }

    fn has_expired(&self, seen: &RolloutObservation, now: Timestamp) -> bool {
        self.step.is_some() && seen.until.is_some_and(|until| seconds(now) >= until.at_seconds)
    }

    /// A hook asks for a rollback: that is done, whatever the file says about a failure.
    fn rolled_back_by_hook(&self, _: &RolloutObservation, _: Timestamp) -> Option<Decision> {
        let reason = self.asked_to_roll_back()?;
        if self.policy.observe {
            return Some(self.failed(reason));
        }
        let decide = RolloutAction::Decide(Ending::Rollback);
        Some(Decision::new(RolloutPhase::Ending, decide, reason).told_as(AlertKind::Failed))
    }

    /// The canary is worse, or may be.
    fn evidence_against(&self, seen: &RolloutObservation, _: Timestamp) -> Option<Decision> {
        let reason = seen.assessment.reason.clone();
        match seen.assessment.verdict {
            EvidenceVerdict::Rollback => Some(self.failed(reason)),
            EvidenceVerdict::Hold if self.step.is_some() => {
                let reason = format!("{reason}{}", self.end_of_hold());
                Some(Decision::new(RolloutPhase::Held, RolloutAction::Wait, reason))
            }
            EvidenceVerdict::Hold | EvidenceVerdict::Waiting | EvidenceVerdict::Advance => None,
        }
    }

    /// The failure action of the file.
    pub(crate) fn failed(&self, reason: String) -> Decision {
        let held = |reason: String| {
            Decision::new(RolloutPhase::Held, RolloutAction::Wait, reason).told_as(AlertKind::Failed)
        };
        if self.policy.observe {
            return held(format!("a rollout that acts would end here: {reason}"));
        }
        let ending = match self.policy.on_failure {
            FailureAction::Rollback => Ending::Rollback,
            FailureAction::Stop => Ending::Stop,
            FailureAction::Hold => return held(reason),
        };
        Decision::new(RolloutPhase::Ending, RolloutAction::Decide(ending), reason).told_as(AlertKind::Failed)
    }

    /// Nothing speaks against the next step.
    fn progress(&self, seen: &RolloutObservation, now: Timestamp) -> Decision {
        if self.policy.observe {
            return Decision::new(
                RolloutPhase::Progressing,
                RolloutAction::Wait,
                seen.assessment.reason.clone(),
            );
        }
        let (Some(current), Some(step)) = (&self.step, self.current()) else {
            return self.enter(0, "the rollout begins".to_owned());
        };
        if self.has_expired(seen, now) {
            return self.enter(current.index, EXPIRED.to_owned());
        }
        if seen.weight != step.weight {
            return self.enter(current.index, format!("resumed: the weight {} was set by hand", seen.weight));
        }
        let next = || self.enter(current.index + 1, seen.assessment.reason.clone());
        self.obstacle(step, seen, now).unwrap_or_else(next)
    }

    /// The next need of a step.
    fn obstacle(&self, step: &RolloutStep, seen: &RolloutObservation, now: Timestamp) -> Option<Decision> {
        let current = self.step.as_ref()?;
        let end = after(current.since, step.hold);
        if now < end {
            let left = end.duration_since(now).as_secs();
            let reason = format!("the step at {} has {left}s left", step.weight);
            return Some(Decision::new(RolloutPhase::Progressing, RolloutAction::Wait, reason));
        }
        match step.gate {
            Gate::Manual if current.approved_by.is_some() => None,
            Gate::Manual => {
                let reason =
                    format!("the step at {} needs an approval; {}", step.weight, seen.assessment.reason);
                let wait = Decision::new(RolloutPhase::Waiting, RolloutAction::Wait, reason);
                Some(wait.told_as(AlertKind::Gate))
            }
            Gate::Evidence if seen.assessment.verdict == EvidenceVerdict::Advance => None,
            Gate::Evidence => {
                let reason = seen.assessment.reason.clone();
                Some(Decision::new(RolloutPhase::Waiting, RolloutAction::Wait, reason))
            }
        }
    }

    /// The step of that index, or what follows the last one.
    fn enter(&self, index: usize, reason: String) -> Decision {
        if index < self.plan.len() {
            return Decision::new(RolloutPhase::Progressing, RolloutAction::EnterStep(index), reason);
        }
        match self.policy.on_success {
            SuccessAction::Promote => {
                Decision::new(RolloutPhase::Ending, RolloutAction::Decide(Ending::Promote), reason)
            }
            SuccessAction::Wait => {
                Decision::new(RolloutPhase::Ended, RolloutAction::End(RolloutResult::Completed), reason)
            }
        }
    }

    /// While a driver waits it keeps the weight from expiring. A person's weight is left alone, and one that has expired
    /// is not brought back.
    fn renewed(&self, decision: Decision, seen: &RolloutObservation, now: Timestamp) -> Decision {
        let is_ours = self.current().is_some_and(|step| step.weight == seen.weight)
            && !matches!(self.suspended, Some(Suspension::ManualWeight { .. }));
        let half = Seconds::new(self.policy.expires_in.get() / 2).unwrap_or(self.policy.expires_in);
        let is_due = seen.until.is_none_or(|until| seconds(after(now, half)) >= until.at_seconds);
        let is_kept = self.is_active() && !self.policy.observe && !self.has_expired(seen, now);
        if decision.action == RolloutAction::Wait && is_ours && is_due && is_kept {
            return Decision { action: RolloutAction::Renew, ..decision };
        }
        decision
    }
}
