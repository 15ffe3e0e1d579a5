//! What people do to a rollout. Each changes the record and nothing else; a driver carries it out.

use super::state::CurrentStep;
use super::{Ending, Rollout, RolloutEnd, Suspension};
use crate::alert::{AlertKind, RolloutResult};
use crate::record::Record;
use crate::spec::{FailureAction, Gate, LatencyPercentile, Seconds};
use jiff::Timestamp;

/// What people do to a rollout that goes on.
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

/// Why a rollout cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerbError {
    /// None was started, or it has ended.
    #[error("expected a rollout that has not ended, found {found}")]
    NotActive {
        /// What there is.
        found: String,
    },
    /// One goes on already.
    #[error("expected no rollout of {canary}, found one that {by} has started")]
    AlreadyActive {
        /// Its version.
        canary: String,
        /// Who has started it.
        by: String,
    },
    /// There is no canary to roll out.
    #[error("expected a canary, found none")]
    NoCanary,
    /// The file has no plan of that name.
    #[error("expected a plan of {}, found `{name}`", known.join(", "))]
    UnknownPlan {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The proxies have counted too few responses of stable for a percentile.
    #[error(
        "expected {expected} responses of stable `{stable}` in the proxies, and {percentile} of them within 1000 s, found {found}"
    )]
    NoPercentile {
        /// The percentile.
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
    PastDeadline {
        /// The deadline.
        deadline: Seconds,
    },
    /// The present step has no gate.
    #[error("expected a step with `gate: manual`, found {found}")]
    NoGate {
        /// The step.
        found: String,
    },
    /// It has begun to end.
    #[error("expected a rollout that goes on, found one in its {ending}: {reason}")]
    Ending {
        /// How it ends.
        ending: Ending,
        /// Why.
        reason: String,
    },
}

impl Record {
    /// Does to the rollout what somebody asks for. A driver carries it out.
    ///
    /// # Errors
    ///
    /// If there is no rollout that has not ended, or it cannot do that now.
    pub fn change_rollout(&mut self, verb: RolloutVerb, by: &str, now: Timestamp) -> Result<(), VerbError> {
        let rollout = self.active_rollout()?;
        let before = rollout.suspended.clone();
        match verb {
            RolloutVerb::Approve => rollout.approve(by)?,
            RolloutVerb::Pause => rollout.pause(by)?,
            RolloutVerb::Resume => rollout.resume(now)?,
            RolloutVerb::Retry => rollout.retry(now)?,
            RolloutVerb::Abort => rollout.abort(by, now)?,
            RolloutVerb::Promote => rollout.promote_now(by)?,
        }
        if !rollout.is_active() {
            self.count_by_group(None, by);
        }
        self.alert_verb(verb, before.as_ref(), by, now);
        Ok(())
    }

    /// Tells what somebody has done to a rollout, as a part of the same write. An approval and a promotion are told by what follows.
    fn alert_verb(&mut self, verb: RolloutVerb, before: Option<&Suspension>, by: &str, now: Timestamp) {
        let Some(rollout) = self.rollout.as_ref() else { return };
        let told = match verb {
            RolloutVerb::Pause if before != rollout.suspended.as_ref() => {
                Some((AlertKind::Suspended, format!("paused by {by}")))
            }
            RolloutVerb::Resume if before.is_some() => Some((AlertKind::Resumed, format!("resumed by {by}"))),
            RolloutVerb::Retry => Some((
                AlertKind::Resumed,
                format!("{by} lets the step begin anew, without the evidence before it"),
            )),
            RolloutVerb::Abort => Some(match (&rollout.ended, &rollout.ending) {
                (Some(end), _) => (end.result.into(), end.reason.clone()),
                (None, Some((ending, reason))) => {
                    (AlertKind::Aborted, format!("{reason}{}", ending.consequence()))
                }
                (None, None) => (AlertKind::Aborted, format!("aborted by {by}")),
            }),
            RolloutVerb::Pause | RolloutVerb::Resume | RolloutVerb::Approve | RolloutVerb::Promote => None,
        };
        if let Some((kind, reason)) = told {
            self.alert(kind, &reason, now);
        }
    }

    /// The rollout that has not ended.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn active_rollout(&mut self) -> Result<&mut Rollout, VerbError> {
        let found = match self.rollout.as_ref().map(|rollout| &rollout.ended) {
            None => "none".to_owned(),
            Some(Some(end)) => format!("one that was {}", end.result),
            Some(None) => String::new(),
        };
        let active = self.rollout.as_deref_mut().filter(|rollout| rollout.is_active());
        active.ok_or(VerbError::NotActive { found })
    }
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
        self.begin_step();
    }
}
