//! How a rollout goes by itself: plans of steps, and what ends it.

use super::{
    AlertSpec, AnalysisSpec, HookSpec, LatencyPercentile, Milliseconds, Percentage, ReleaseDependency,
    RolloutWindow, Seconds,
};
use assignment::Weight;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The plan that is taken where none is named.
pub const DEFAULT_PLAN: &str = "default";
/// Its weights, in percent. The promotion follows.
const DEFAULT_WEIGHTS: [u32; 5] = [1, 5, 10, 25, 50];

/// The rollouts of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutSpec {
    /// The plans by name. One is [`DEFAULT_PLAN`].
    pub plans: BTreeMap<String, Vec<RolloutStep>>,
    /// The settings that all plans share.
    pub policy: RolloutPolicy,
    /// The percentile from which [`RolloutPolicy::slower_than`] is taken when a rollout is started, if the file names no time.
    pub slower_than_of_stable: Option<LatencyPercentile>,
    /// When more users are sent to the canary, and it is promoted: at any time if there is none.
    pub windows: Vec<RolloutWindow>,
    /// Releases that have to be at a version before more users are sent to the canary, and it is promoted.
    pub depends_on: Vec<ReleaseDependency>,
    /// The alert receivers.
    pub alerts: AlertSpec,
    /// The queries to a Prometheus server.
    pub analysis: AnalysisSpec,
    /// Which webhooks are called.
    pub hooks: HookSpec,
}

/// A weight, and what is needed to go on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RolloutStep {
    /// The canary's share.
    pub weight: Weight,
    /// The least time at it.
    pub hold: Seconds,
    /// Whether somebody has to approve before the next step.
    #[serde(default)]
    pub gate: Gate,
    /// The responses of the canary that it must have seen, in place of [`RolloutPolicy::min_responses`].
    #[serde(default, rename = "minResponses", skip_serializing_if = "Option::is_none")]
    pub min_responses: Option<u64>,
}

/// The gate of a step: what lets the rollout go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Gate {
    /// The evidence.
    #[default]
    Evidence,
    /// A person. The evidence may still end the rollout.
    Manual,
}

/// The settings that all plans share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolloutPolicy {
    /// The share of rollouts of a canary that is as good as stable which are ended for it, at most.
    pub false_alarm: Percentage,
    /// The share of the canary's responses that may fail, whatever stable does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_errors: Option<Percentage>,
    /// The responses of the canary that a step must have seen which says nothing else.
    pub min_responses: u64,
    /// Whether responses with a status of 400 to 499 count as failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub client_errors: bool,
    /// Responses whose headers come later count as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_than: Option<Milliseconds>,
    /// Whether responses that take the session from a request count as failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost_sessions: bool,
    /// The restarts of the canary's containers that are allowed in a rollout.
    #[serde(default = "max_pod_restarts")]
    pub max_pod_restarts: u64,
    /// The action when the canary is worse.
    pub on_failure: FailureAction,
    /// The action after the last step.
    pub on_success: SuccessAction,
    /// The longest time from the start to the end.
    pub deadline: Seconds,
    /// The longest time for which evidence against the canary holds the rollout; `None` is up to the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_held: Option<Seconds>,
    /// After this time without a driver the weight ends by itself, as `onExpiry` says.
    pub expires_in: Seconds,
    /// A rollout that is held, or sees too little, is told of after this time.
    #[serde(default = "stalled_after")]
    pub stalled_after: Seconds,
    /// Whether the rollout only says what it would do.
    pub observe: bool,
}

/// The kinds of failure that a rollout collects beside 5xx and unanswered requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalKinds {
    /// Responses with a status of 400 to 499.
    pub client_errors: bool,
    /// Responses whose headers come later than the release allows.
    pub slow_responses: bool,
    /// Responses that take the session from a request.
    pub lost_sessions: bool,
}

impl OptionalKinds {
    /// Their number.
    pub fn count(self) -> u64 {
        [self.client_errors, self.slow_responses, self.lost_sessions].map(u64::from).iter().sum()
    }
}

impl RolloutPolicy {
    /// The number of kinds of failed responses: 5xx and unanswered requests always.
    pub fn failure_kinds(&self) -> u64 {
        2 + self.optional_kinds().count()
    }

    /// The other kinds.
    pub const fn optional_kinds(&self) -> OptionalKinds {
        OptionalKinds {
            client_errors: self.client_errors,
            slow_responses: self.slower_than.is_some(),
            lost_sessions: self.lost_sessions,
        }
    }
}

/// The action when the canary is worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureAction {
    /// The canary is rolled back: all users are on stable.
    #[default]
    Rollback,
    /// The canary receives no new users; sessions finish.
    Stop,
    /// The weight stays, and a person decides.
    Hold,
}

/// The action after the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SuccessAction {
    /// The canary becomes stable.
    #[default]
    Promote,
    /// The weight stays, and a person decides.
    Wait,
}

impl RolloutSpec {
    /// The plan that a release has whatever its file says: 1, 5, 10, 25 and 50 %, ten minutes each.
    pub(super) fn default_plan() -> Vec<RolloutStep> {
        let weights = DEFAULT_WEIGHTS.into_iter().filter_map(|percent| Weight::new(percent * 100).ok());
        weights.map(RolloutStep::at).collect()
    }
}

impl RolloutStep {
    /// The time at a step where it says none.
    pub(super) const HOLD: Seconds = Seconds::TEN_MINUTES;

    /// A step that says its weight alone.
    const fn at(weight: Weight) -> Self {
        Self { weight, hold: Self::HOLD, gate: Gate::Evidence, min_responses: None }
    }
}

/// Those of `SberMarket`'s platform (in three minutes there), and of files that do not say it.
const fn max_pod_restarts() -> u64 {
    3
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// That of records that were written before it was there, and of files that do not say it.
const fn stalled_after() -> Seconds {
    Seconds::TEN_MINUTES
}

impl Default for RolloutSpec {
    fn default() -> Self {
        let plans = BTreeMap::from([(DEFAULT_PLAN.to_owned(), Self::default_plan())]);
        Self {
            plans,
            policy: RolloutPolicy::default(),
            slower_than_of_stable: None,
            windows: Vec::new(),
            depends_on: Vec::new(),
            alerts: AlertSpec::default(),
            analysis: AnalysisSpec::default(),
            hooks: HookSpec::default(),
        }
    }
}

impl Default for RolloutPolicy {
    fn default() -> Self {
        Self {
            false_alarm: Percentage::from_basis_points(500),
            max_errors: None,
            min_responses: 300,
            client_errors: false,
            slower_than: None,
            lost_sessions: false,
            max_pod_restarts: max_pod_restarts(),
            on_failure: FailureAction::default(),
            on_success: SuccessAction::default(),
            deadline: Seconds::DAY,
            max_held: None,
            expires_in: Seconds::HOUR,
            stalled_after: stalled_after(),
            observe: false,
        }
    }
}
