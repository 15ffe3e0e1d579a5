//! A verb in the record of a release, with its alert and, at the end of a rollout, its generation.

use crate::alert::AlertKind;
use crate::record::{Author, Record};
use crate::rollout::{Rollout, RolloutVerb, Suspension, VerbError};

impl Record {
    /// Records what a user asks of the rollout. A driver carries it out.
    ///
    /// # Errors
    ///
    /// If there is no rollout that has not ended, or it cannot do that now.
    pub fn change_rollout(&mut self, verb: RolloutVerb, by: Author<'_>) -> Result<(), VerbError> {
        let rollout = self.active_rollout()?;
        let before = rollout.suspended.clone();
        match verb {
            RolloutVerb::Approve => rollout.approve(by.name)?,
            RolloutVerb::Pause => rollout.pause(by.name)?,
            RolloutVerb::Resume => rollout.resume(by.at)?,
            RolloutVerb::Retry => rollout.retry(by.at)?,
            RolloutVerb::Abort => rollout.abort(by.name, by.at)?,
            RolloutVerb::Promote => rollout.promote_now(by.name)?,
        }
        if !rollout.is_active() {
            self.count_by_group(None, by);
        }
        self.alert_verb(verb, before.as_ref(), by);
        Ok(())
    }

    /// Tells what somebody has done to a rollout, as a part of the same write. An approval and a promotion are told by what follows.
    fn alert_verb(&mut self, verb: RolloutVerb, before: Option<&Suspension>, by: Author<'_>) {
        let Some(rollout) = self.rollout.as_ref() else { return };
        let name = by.name;
        let told = match verb {
            RolloutVerb::Pause if before != rollout.suspended.as_ref() => {
                Some((AlertKind::Suspended, format!("paused by {name}")))
            }
            RolloutVerb::Resume if before.is_some() => {
                Some((AlertKind::Resumed, format!("resumed by {name}")))
            }
            RolloutVerb::Retry => Some((
                AlertKind::Resumed,
                format!("{name} lets the step begin anew, without the evidence before it"),
            )),
            RolloutVerb::Abort => Some(match (&rollout.ended, &rollout.ending) {
                (Some(end), _) => (end.result.into(), end.reason.clone()),
                (None, Some((ending, reason))) => {
                    (AlertKind::Aborted, format!("{reason}{}", ending.consequence()))
                }
                (None, None) => (AlertKind::Aborted, format!("aborted by {name}")),
            }),
            RolloutVerb::Pause | RolloutVerb::Resume | RolloutVerb::Approve | RolloutVerb::Promote => None,
        };
        if let Some((kind, reason)) = told {
            self.alert(kind, &reason, by.at);
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
