//! The verbs of a rollout: approve, pause, resume, retry, abort, promote. A driver carries them out.

use super::state::CurrentStep;
use super::{Ending, Rollout, RolloutEnd, Suspension};
use crate::alert::RolloutResult;
use crate::spec::{FailureAction, Gate, LatencyPercentile, Seconds};
use jiff::Timestamp;

/// The verbs for an active rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutVerb {
    /// Let the present step go on.
    Approve,
    /// Keep the weight.
    Pause,
    /// Go on.
    Resume,
    /// Forget the evidence, and begin the step anew.
    Retry,
    /// End it.
    Abort,
    /// Promote the canary now.
    Promote,
}

/// The reason why a rollout refuses a verb.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerbError {
    /// None was started, or it has ended.
    #[error("expected a rollout that has not ended, found {found}")]
    NotActive {
        /// The state that was found.
        found: String,
    },
    /// One goes on already.
    #[error("expected no rollout of {canary}, found one that {by} has started")]
    AlreadyActive {
        /// Its version.
        canary: String,
        /// The user who has started it.
        by: String,
    },
    /// There is no canary to roll out.
    #[error("expected a canary, found none")]
    NoCanary,
    /// The file has no plan of that name.
    #[error("expected a plan of {}, found `{name}`", known.join(", "))]
    UnknownPlan {
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The proxies have counted too few responses of stable for a percentile.
    #[error(
        "expected {expected} responses of stable `{stable}` in the proxies, and {percentile} of them within 1000 s, found {found}"
    )]
    NoPercentile {
        percentile: LatencyPercentile,
        /// The stable version.
        stable: String,
        /// The fewest responses.
        expected: u64,
        /// Those that were counted since the proxies started, or have `latencyHistogram`.
        found: u64,
    },
    /// The deadline has passed while the rollout was suspended.
    #[error(
        "expected a rollout within its deadline of {deadline}, found one that would end at once: a suspension counts"
    )]
    PastDeadline { deadline: Seconds },
    /// The present step has no gate.
    #[error("expected a step with `gate: manual`, found {found}")]
    NoGate {
        /// The step.
        found: String,
    },
    /// It has begun to end.
    #[error("expected a rollout that goes on, found one in its {ending}: {reason}")]
    Ending {
        /// The end of the rollout.
        ending: Ending,
        reason: String,
    },
}

impl Rollout {
    /// Lets the present step go on, once its time is up.
    ///
    /// # Errors
    ///
    /// If the step has no gate, or the rollout ends.
    pub fn approve(&mut self, by: &str) -> Result<(), VerbError> {
        self.not_ending()?;
        let current = self.current().copied();
        let Some(step) = self.step.as_mut().filter(|_| current.is_some_and(|step| step.gate == Gate::Manual))
        else {
            let found =
                current.map_or_else(|| "none".to_owned(), |step| format!("the step at {}", step.weight));
            return Err(VerbError::NoGate { found });
        };
        step.approved_by = Some(by.to_owned());
        self.alerts.pass_gate();
        Ok(())
    }

    /// Keeps the weight until somebody resumes.
    ///
    /// # Errors
    ///
    /// If the rollout ends.
    pub fn pause(&mut self, by: &str) -> Result<(), VerbError> {
        self.not_ending()?;
        self.suspended = Some(Suspension::Paused { by: by.to_owned() });
        Ok(())
    }

    /// Ends a pause, or gives the weight back to the rollout after somebody has set one. The present step begins anew.
    ///
    /// # Errors
    ///
    /// If the rollout ends, or would end at once: its deadline has passed while it was suspended. One that only observes ends so without harm.
    pub fn resume(&mut self, now: Timestamp) -> Result<(), VerbError> {
        self.not_ending()?;
        if self.suspended.is_some() && !self.policy.observe && self.is_past_deadline(now) {
            return Err(VerbError::PastDeadline { deadline: self.policy.deadline });
        }
        if self.suspended.take().is_some() {
            self.restart_step(now);
        }
        Ok(())
    }

    /// Forgets the evidence against the canary: the present step begins anew, and so does the deadline.
    ///
    /// # Errors
    ///
    /// If the rollout ends.
    pub fn retry(&mut self, now: Timestamp) -> Result<(), VerbError> {
        self.not_ending()?;
        self.evidence.forget();
        self.train.values_mut().for_each(|inner| inner.evidence.forget());
        self.started_at = now;
        self.suspended = None;
        self.restart_step(now);
        Ok(())
    }

    /// Ends the rollout: a rollback, or a stop where the file says so. One that only observes changes nothing.
    ///
    /// # Errors
    ///
    /// If the rollout ends already.
    pub fn abort(&mut self, by: &str, now: Timestamp) -> Result<(), VerbError> {
        self.not_ending()?;
        if self.policy.observe {
            let reason = format!("aborted by {by}");
            self.ended = Some(RolloutEnd { result: RolloutResult::Observed, reason, at: now });
            return Ok(());
        }
        let ending = match self.policy.on_failure {
            FailureAction::Rollback => Ending::Rollback,
            FailureAction::Stop | FailureAction::Hold => Ending::Stop,
        };
        self.ending = Some((ending, format!("aborted by {by}")));
        Ok(())
    }

    /// Promotes the canary now, whatever is left of the plan and whatever was seen.
    ///
    /// # Errors
    ///
    /// If the rollout ends already.
    pub fn promote_now(&mut self, by: &str) -> Result<(), VerbError> {
        self.not_ending()?;
        self.ending = Some((Ending::Promote, format!("promoted by {by} before the end of the plan")));
        Ok(())
    }

    fn not_ending(&self) -> Result<(), VerbError> {
        match &self.ending {
            None => Ok(()),
            Some((ending, reason)) => Err(VerbError::Ending { ending: *ending, reason: reason.clone() }),
        }
    }

    fn restart_step(&mut self, now: Timestamp) {
        self.step = self.step.take().map(|step| CurrentStep { since: now, approved_by: None, ..step });
        self.held_since = None;
        self.begin_step();
    }
}
