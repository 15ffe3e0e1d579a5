//! The rollout of a release, as its record keeps it.

use super::{AlertState, Driver, FailureTimeline};
use crate::alert::RolloutResult;
use crate::analysis::MetricState;
use crate::assessment::Assessment;
use crate::evidence::{Criteria, Evidence, InnerEvidence, ProxyCoverage, TrainReport};
use crate::hook::HookState;
use crate::spec::{
    ReleaseDependency, ReleaseName, RolloutHook, RolloutMetric, RolloutPolicy, RolloutStep, RolloutWindow,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A rollout. Plan and policy are those of the file at its start: an edit of the file changes the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rollout {
    /// The version that it is about.
    pub canary: String,
    /// The name of its plan.
    pub plan_name: String,
    /// The steps.
    pub plan: Vec<RolloutStep>,
    /// Its limits.
    pub policy: RolloutPolicy,
    /// When it may raise the weight and promote: at any time if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<RolloutWindow>,
    /// The releases that have to be at a version before that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ReleaseDependency>,
    /// The user who started it, as the API server authenticates them.
    pub by: String,
    /// When.
    pub started_at: Timestamp,
    /// The process that has driven it last; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// The step whose weight was set last; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<CurrentStep>,
    /// The reason for which it is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Suspension>,
    /// Its ending, which may not be carried out yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<(Ending, String)>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RolloutEnd>,
    /// The evidence of its users' responses.
    pub evidence: Evidence,
    /// The failures of both versions over time.
    #[serde(default, skip_serializing_if = "FailureTimeline::is_empty")]
    pub failures: FailureTimeline,
    /// The evidence of the other releases of its train.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub train: BTreeMap<ReleaseName, InnerEvidence>,
    /// Since when the fuse of the canary is open in a proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fused_since: Option<Timestamp>,
    /// Since when it is closed again, until that has lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuse_closed_at: Option<Timestamp>,
    /// Since when its evidence speaks against the canary, without being enough for a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
    /// Further metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<RolloutMetric>,
    /// The measurements since the step began, by the names of the metrics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, MetricState>,
    /// The decisions of its hooks. Their endpoints are in the driver's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<RolloutHook>,
    /// The responses of hooks since the step began, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hook_states: BTreeMap<String, HookState>,
    /// The alert receivers, and the alerts that were sent.
    #[serde(default)]
    pub alerts: AlertState,
}

/// The step that a rollout is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CurrentStep {
    /// Its index in the plan.
    pub index: usize,
    /// Since when.
    pub since: Timestamp,
    /// The user who has approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

/// The reason for which a rollout is suspended. The weight stays until an operator resumes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "why")]
pub enum Suspension {
    /// Somebody has paused it.
    Paused {
        /// Who.
        by: String,
    },
    /// Somebody has set a weight.
    ManualWeight {
        /// Who.
        by: String,
    },
}

/// The wanted end of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// The canary becomes stable.
    Promote,
    /// All users are on stable.
    Rollback,
    /// The canary receives no new users.
    Stop,
}

/// The result of a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolloutEnd {
    /// With which result.
    pub result: RolloutResult,
    /// Why, as a sentence.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl Rollout {
    /// The step that it is at.
    pub fn current(&self) -> Option<&RolloutStep> {
        self.plan.get(self.step.as_ref()?.index)
    }

    /// When its step began; before the first one, when it was started.
    pub fn step_since(&self) -> Timestamp {
        self.step.as_ref().map_or(self.started_at, |step| step.since)
    }

    /// Begins the counts, measurements, calls and alerts of a step.
    pub(crate) fn begin_step(&mut self) {
        self.evidence.begin_step();
        self.train.values_mut().for_each(|inner| inner.evidence.begin_step());
        self.measured.clear();
        self.hook_states.clear();
        self.alerts.begin_step();
    }

    /// Whether it has not ended.
    pub const fn is_active(&self) -> bool {
        self.ended.is_none()
    }

    /// Assesses what was counted so far.
    pub fn assess(&self, proxies: ProxyCoverage, train: TrainReport) -> Assessment {
        self.evidence.assess_in_train(&self.criteria(), proxies, &self.train, train)
    }

    /// The criteria of its evidence at its step. Each kind of failure of each release of a train is a test of its own.
    pub(crate) fn criteria(&self) -> Criteria {
        let policy = &self.policy;
        let min_responses = self.current().and_then(|step| step.min_responses);
        Criteria {
            false_alarm: policy.false_alarm.as_fraction(),
            max_errors: policy.max_errors.map(crate::spec::Percentage::as_fraction),
            min_responses: min_responses.unwrap_or(policy.min_responses),
            max_pod_restarts: policy.max_pod_restarts,
            kinds: policy.failure_kinds() + self.inner_kinds(),
        }
    }
}

impl fmt::Display for Rollout {
    /// ``v2 by plan `default`, step 2 of 5 at 5%, paused by ada``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by plan `{}`, ", self.canary, self.plan_name)?;
        match (&self.step, self.current()) {
            (Some(at), Some(step)) => {
                write!(f, "step {} of {} at {}", at.index + 1, self.plan.len(), step.weight)?;
            }
            _ => write!(f, "before the first of {} steps", self.plan.len())?,
        }
        match (&self.ended, &self.ending, &self.suspended) {
            (Some(end), ..) => write!(f, ", {}: {}", end.result, end.reason),
            (None, Some((ending, reason)), _) => write!(f, ", in its {ending}: {reason}"),
            (None, None, Some(suspension)) => write!(f, ", {suspension}"),
            (None, None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused { by } => write!(f, "paused by {by}"),
            Self::ManualWeight { by } => write!(f, "suspended: {by} has set a weight"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Promote => "promotion",
            Self::Rollback => "rollback",
            Self::Stop => "stop",
        })
    }
}
