//! The status of an object: what `kubectl`, kstatus, Argo CD and Flux read.
//!
//! # Source
//! [Kubernetes API conventions, "Typical status properties"](https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties);
//! [kstatus, "Conditions"](https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md).

use crate::request::Answer;
use assignment::Weight;
use assignment::contract::Role;
use canary_operations::RolloutReport;
use canary_release::alert::{AlertKind, RolloutResult};
use canary_release::evidence::KindNumbers;
use canary_release::record::{Record, RoleChangeKind};
use canary_release::rollout::{Rollout, RolloutPhase};
use canary_release::spec::Versions;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The phase of a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Its objects are not all there.
    #[default]
    Installing,
    /// It has no canary.
    Stable,
    /// It has a canary, whose weight no rollout changes.
    Canary,
    /// A rollout goes on.
    Progressing,
    /// A rollout waits for an approval.
    Gated,
    /// The evidence does not let a rollout go on.
    Held,
    /// A person has stopped it.
    Paused,
    /// The canary of the object has become stable.
    Promoted,
    /// The canary of the object was rolled back.
    RolledBack,
    /// The canary of the object takes no new users.
    Stopped,
    /// The object cannot be carried out.
    Failed,
}

impl Phase {
    /// Whether nothing goes on: the release is ready, or has a problem.
    pub(crate) const fn is_settled(self) -> bool {
        matches!(self, Self::Stable | Self::Canary | Self::Promoted)
    }
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word.
    #[serde(default)]
    pub reason: String,
    /// A sentence.
    #[serde(default)]
    pub message: String,
    /// When the status changed.
    pub last_transition_time: Timestamp,
    /// The generation that it is about.
    #[serde(default)]
    pub observed_generation: i64,
}

impl Condition {
    /// A condition by type, status, reason and message. Its time is that of the conditions before where its status is the same.
    pub(crate) fn new(
        (kind, status): (&str, &str),
        (reason, message): (&str, &str),
        observed_generation: i64,
        (now, before): (Timestamp, &[Self]),
    ) -> Self {
        let last = before.iter().find(|condition| condition.kind == kind && condition.status == status);
        Self {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: last.map_or(now, |condition| condition.last_transition_time),
            observed_generation,
        }
    }
}

/// A problem that lasts for so long stalls a release: the default of a Deployment's `progressDeadlineSeconds`.
const PROBLEM_DEADLINE: SignedDuration = SignedDuration::from_mins(10);
/// Problems that neither time nor another object ends.
const FINAL_PROBLEMS: [&str; 1] = ["weight-expired"];

/// A problem of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// By which scripts know it.
    pub id: String,
    /// A sentence.
    pub message: String,
    /// Since when it is seen in this phase; nothing where another version has written the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl Problem {
    fn lasts(&self, now: Timestamp) -> bool {
        let is_over = self.since.is_some_and(|since| now.duration_since(since) >= PROBLEM_DEADLINE);
        is_over || FINAL_PROBLEMS.contains(&self.id.as_str())
    }
}

/// The id of a problem as the reason of a condition is written.
pub(crate) fn reason_of(id: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    id.split('-').map(capital).collect()
}

/// The rollout of a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    plan: String,
    /// From 1 on; 0 before the first.
    step: usize,
    steps: usize,
    /// In percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    since: Option<Timestamp>,
    reason: String,
    kinds: Vec<KindStatus>,
}

impl RolloutStatus {
    /// The phase, or the result after the end.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }
}

/// One kind of failure, in both versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KindStatus {
    kind: String,
    canary_responses: u64,
    canary_failed: u64,
    stable_responses: u64,
    stable_failed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    users: usize,
}

/// The status of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The generation of the spec that this is about.
    #[serde(default)]
    pub observed_generation: i64,
    /// The phase of the release.
    #[serde(default)]
    pub phase: Phase,
    /// The stable version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stable: Option<String>,
    /// The canary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// The share that is asked for, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The share that was seen, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<f64>,
    /// The rollout that goes on, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutStatus>,
    /// The problems, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The condition for which the release waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// The replica that has written this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The answer to the last request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_request: Option<Answer>,
    /// The conditions.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// The conditions of a moment.
pub(crate) struct Verdict<'a> {
    /// `Ready`, `Reconciling`, `Stalled`.
    pub(crate) states: [&'static str; 3],
    /// The reason that they have in common.
    pub(crate) reason: &'a str,
    /// The sentence that they have in common.
    pub(crate) message: &'a str,
}

impl Verdict<'_> {
    pub(crate) const READY: [&'static str; 3] = ["True", "False", "False"];
    pub(crate) const RECONCILING: [&'static str; 3] = ["False", "True", "False"];
    pub(crate) const STALLED: [&'static str; 3] = ["False", "False", "True"];
}

impl Status {
    /// The status of an object as it is, without the fields that only another version of the controller can read.
    pub fn of(object: &Value) -> Self {
        let mut status = object.get("status").cloned().unwrap_or_default();
        let unreadable = unreadable(object);
        if let Value::Object(status) = &mut status {
            status.retain(|field, _| !unreadable.contains(field));
        }
        serde_json::from_value(status).unwrap_or_default()
    }

    /// Sets the conditions. A time changes with the status alone.
    pub(crate) fn conclude(&mut self, verdict: &Verdict<'_>, generation: i64, now: Timestamp) {
        self.observed_generation = generation;
        let before = std::mem::take(&mut self.conditions);
        let types = ["Ready", "Reconciling", "Stalled"];
        let same = types.into_iter().zip(verdict.states);
        let promoted = self.promoted().map(|state| ("Promoted", state));
        self.conditions = same
            .chain(promoted)
            .map(|(kind, status)| {
                Condition::new((kind, status), (verdict.reason, verdict.message), generation, (now, &before))
            })
            .collect();
    }

    /// Whether the canary of the object has become stable; `None` where it names none.
    const fn promoted(&self) -> Option<&'static str> {
        match self.phase {
            Phase::Stable | Phase::Installing => None,
            Phase::Promoted => Some("True"),
            Phase::RolledBack | Phase::Stopped => Some("False"),
            _ => Some("Unknown"),
        }
    }

    /// Takes the problems of a moment: ids and sentences. One that was seen before keeps its time.
    pub(crate) fn observe(&mut self, found: impl IntoIterator<Item = (String, String)>, now: Timestamp) {
        let before = std::mem::take(&mut self.problems);
        let since = |id: &str| before.iter().find(|problem| problem.id == id).and_then(|known| known.since);
        let found = found.into_iter();
        let seen = found.map(|(id, message)| Problem { since: since(&id).or(Some(now)), id, message });
        self.problems = seen.collect();
    }

    /// A problem that a person has to end.
    pub(crate) fn lasting_problem(&self, now: Timestamp) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.lasts(now))
    }

    /// Takes the record, and the last report of its rollout.
    pub(crate) fn record(&mut self, record: &Record, named: &Versions, report: Option<&RolloutReport>) {
        let state = &record.state;
        self.stable = state.version_of(Role::Stable).map(str::to_owned);
        self.canary = state.version_of(Role::Canary).map(str::to_owned);
        self.weight = self.canary.is_some().then(|| percent(state.weight));
        let before = std::mem::replace(&mut self.phase, phase(record, named, report));
        if self.phase != before {
            self.problems.iter_mut().for_each(|problem| problem.since = None);
        }
        self.rollout = record.rollout.as_deref().map(|rollout| rollout_status(rollout, report));
        self.waiting_for = report.map(|report| report.decision.reason.clone());
    }
}

/// The fields of a status that this version cannot read: another one has written them.
pub(crate) fn unreadable(object: &Value) -> Vec<String> {
    let status = object.get("status").cloned().unwrap_or_default();
    if serde_json::from_value::<Status>(status.clone()).is_ok() {
        return Vec::new();
    }
    let is_unreadable = |(field, value): (&String, &Value)| {
        let alone = Value::Object([(field.clone(), value.clone())].into_iter().collect());
        serde_json::from_value::<Status>(alone).is_err().then(|| field.clone())
    };
    status.as_object().into_iter().flatten().filter_map(is_unreadable).collect()
}

/// In percent.
fn percent(weight: Weight) -> f64 {
    f64::from(weight.basis_points()) / 100.0
}

/// The phase of a release. `named` are the versions of the object.
fn phase(record: &Record, named: &Versions, report: Option<&RolloutReport>) -> Phase {
    if record.paused.is_some() {
        return Phase::Paused;
    }
    let is_canary = |version: &str| named.canary.as_deref() == Some(version);
    let rollout = record.rollout.as_deref().filter(|rollout| is_canary(&rollout.canary));
    match rollout {
        Some(rollout) if rollout.is_active() => return active(rollout, report),
        Some(Rollout { ended: Some(end), .. }) if end.result == RolloutResult::Stopped => {
            return Phase::Stopped;
        }
        _ => {}
    }
    let change = record.role_change.as_ref();
    match change.map(|change| (change.kind, &change.from, &change.to)) {
        Some((RoleChangeKind::Promoted, _, to)) if is_canary(to) => Phase::Promoted,
        Some((RoleChangeKind::RolledBack, from, _)) if is_canary(from) || named.stable == *from => {
            Phase::RolledBack
        }
        _ if record.state.version_of(Role::Canary).is_some() => Phase::Canary,
        _ => Phase::Stable,
    }
}

fn active(rollout: &Rollout, report: Option<&RolloutReport>) -> Phase {
    let decision = report.map(|report| &report.decision);
    if rollout.suspended.is_some() {
        return Phase::Paused;
    }
    match decision.map(|decision| (decision.phase, decision.alert)) {
        Some((_, Some(AlertKind::Gate))) => Phase::Gated,
        Some((RolloutPhase::Held, _)) => Phase::Held,
        _ => Phase::Progressing,
    }
}

fn rollout_status(rollout: &Rollout, report: Option<&RolloutReport>) -> RolloutStatus {
    let reason = rollout.ended.as_ref().map(|end| end.reason.clone());
    RolloutStatus {
        plan: rollout.plan_name.clone(),
        step: rollout.step.as_ref().map_or(0, |step| step.index + 1),
        steps: rollout.plan.len(),
        weight: rollout.current().map(|step| percent(step.weight)),
        since: Some(rollout.step_since()),
        reason: reason.or_else(|| report.map(|report| report.decision.reason.clone())).unwrap_or_default(),
        kinds: report.iter().flat_map(|report| &report.assessment.kinds).map(kind).collect(),
    }
}

fn kind(numbers: &KindNumbers) -> KindStatus {
    let ratio = numbers.ratio.as_ref();
    KindStatus {
        kind: numbers.name(),
        canary_responses: numbers.canary.responses,
        canary_failed: numbers.canary.failed,
        stable_responses: numbers.stable.responses,
        stable_failed: numbers.stable.failed,
        ratio: ratio.map(|ratio| ratio.ratio),
        low: ratio.map(|ratio| ratio.low),
        high: ratio.map(|ratio| ratio.high),
        users: numbers.users,
    }
}
