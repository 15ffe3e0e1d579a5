//! What comes next in the usual course of a release: from a version without pods to the end of its promotion.

use super::Observation;
use crate::preflight::NarrowSelector;
use crate::record::RollbackTarget;
use assignment::Weight;
use assignment::contract::Role;
use serde::Serialize;

/// The next step.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "step")]
pub enum NextStep {
    /// The file names a version as canary.
    AddCanary,
    /// The pods of the canary are started.
    DeployCanary {
        /// The canary.
        version: String,
    },
    /// The Service selects the canary too.
    WidenSelector(NarrowSelector),
    /// One of them gets ready.
    WaitForCanary {
        /// The canary.
        version: String,
    },
    /// Testers try it, then it gets its first users.
    TestCanary {
        /// The canary.
        version: String,
    },
    /// It gets more users, or is promoted.
    RaiseWeight {
        /// The canary.
        version: String,
    },
    /// It has all users, and is promoted.
    Promote {
        /// The canary.
        version: String,
    },
    /// The rollout goes on.
    FollowRollout,
    /// The sessions of a version that was rolled back finish, or are ended.
    FinishRollback { version: String },
    /// The version before has drained.
    FinishPromotion {
        /// The version before.
        version: String,
    },
}

impl NextStep {
    /// The next step by the roles, the pods and the weight at this moment, in seconds since 1970. None while the release is paused.
    pub fn of(observation: &Observation, now_seconds: u64) -> Option<Self> {
        let record = &observation.record;
        if record.paused.is_some() {
            return None;
        }
        if record.rollout.as_ref().is_some_and(|rollout| rollout.is_active()) {
            return Some(Self::FollowRollout);
        }
        if record.is_rolled_back()
            && let Ok(RollbackTarget::Draining(version)) = record.to_roll_back()
        {
            return Some(Self::FinishRollback { version });
        }
        if let Some(version) = record.draining_versions().into_iter().next() {
            return Some(Self::FinishPromotion { version });
        }
        let canary = record.state.versions.iter().zip(&observation.ready);
        let Some((canary, ready)) = canary.into_iter().find(|(version, _)| version.role == Role::Canary)
        else {
            return Some(Self::AddCanary);
        };
        let version = canary.name.clone();
        if let Some(narrow) = &observation.narrow {
            return Some(Self::WidenSelector(narrow.clone()));
        }
        Some(match (ready.all, ready.ready, record.state.weight_at(now_seconds)) {
            (0, ..) => Self::DeployCanary { version },
            (_, 0, _) => Self::WaitForCanary { version },
            (.., Weight::ZERO) => Self::TestCanary { version },
            (.., Weight::FULL) => Self::Promote { version },
            _ => Self::RaiseWeight { version },
        })
    }
}
