//! What a decision is made of, and what it says.

use super::{DependencyState, Ending};
use crate::alert::{AlertKind, RolloutResult};
use crate::assessment::Assessment;
use crate::spec::Seconds;
use crate::state::ScaledDown;
use assignment::Weight;
use assignment::contract::Until;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::fmt;

/// The observation of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutObservation {
    /// The role that the rollout's version has now.
    pub role: CanaryRole,
    /// The weight of the record.
    pub weight: Weight,
    /// When it ends by itself.
    pub until: Option<Until>,
    /// Whether the objects on the cluster have the state of the record.
    pub is_deployed: bool,
    /// The proxies in which the fuse of the canary is open.
    pub fused: usize,
    /// Stable, where it has too few pods for the users who would come back.
    pub scaled_down: Option<ScaledDown>,
    /// The observations of the releases that it depends on, in its order.
    pub dependencies: Vec<DependencyState>,
    /// The verdict of the evidence.
    pub assessment: Assessment,
}

/// The role of the version that a rollout is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanaryRole {
    /// It is the canary.
    Canary,
    /// It is stable.
    Stable,
    /// It is neither.
    Gone,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RolloutAction {
    /// Nothing, until something else is observed.
    Wait,
    /// Write the objects of the record: whoever has changed it did not finish.
    Deploy,
    /// Set the weight of a step of the plan.
    EnterStep(usize),
    /// Keep the weight, and postpone its expiry.
    Renew,
    /// Record how the rollout is to end.
    Decide(Ending),
    /// Carry out how it ends.
    Execute(Ending),
    /// Record that it has ended.
    End(RolloutResult),
}

/// The phase of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RolloutPhase {
    /// It changes something, a step has time left, or a window is waited for.
    Progressing,
    /// It needs more responses, or an approval.
    Waiting,
    /// The evidence does not let it go on.
    Held,
    /// A person has stopped it, or has set a weight.
    Suspended,
    /// It is being promoted, rolled back or stopped.
    Ending,
    /// It has ended.
    Ended,
}

impl fmt::Display for RolloutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Progressing => "progressing",
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Suspended => "suspended",
            Self::Ending => "ending",
            Self::Ended => "ended",
        })
    }
}

/// The next action, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The phase that follows.
    pub phase: RolloutPhase,
    /// The action.
    pub action: RolloutAction,
    /// Why, as a sentence.
    pub reason: String,
    /// The alert about it, if it lasts or ends the rollout.
    #[serde(skip)]
    pub alert: Option<AlertKind>,
    /// The names of the hooks whose responses it waits for.
    #[serde(skip)]
    pub awaited_hooks: Vec<String>,
}

impl Decision {
    pub(crate) fn new(phase: RolloutPhase, action: RolloutAction, reason: impl Into<String>) -> Self {
        Self { phase, action, reason: reason.into(), alert: None, awaited_hooks: Vec::new() }
    }

    /// Nothing is done.
    pub fn wait(phase: RolloutPhase, reason: impl Into<String>) -> Self {
        Self::new(phase, RolloutAction::Wait, reason)
    }

    pub(crate) fn told_as(self, kind: AlertKind) -> Self {
        Self { alert: Some(kind), ..self }
    }
}

/// A time later; the end of time where there is none.
pub(crate) fn after(time: Timestamp, by: Seconds) -> Timestamp {
    let by = i64::try_from(by.get()).map_or(SignedDuration::MAX, SignedDuration::from_secs);
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// Seconds since 1970-01-01 UTC.
pub(crate) fn seconds(time: Timestamp) -> u64 {
    u64::try_from(time.as_second()).unwrap_or_default()
}
