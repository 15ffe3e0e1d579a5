//! `spec.rollout`: plans of steps, and what ends a rollout.

use super::alerts::alerts;
use super::analysis::{MetricSubject, analysis};
use super::dependencies::dependencies;
use super::hooks::hooks;
use super::users::Users;
use super::windows::windows;
use crate::spec::rollout::{
    DEFAULT_PLAN, FailureAction, Gate, RolloutPolicy, RolloutSpec, RolloutStep, SuccessAction,
};
use crate::spec::{Label, LatencyPercentile, Milliseconds, Percentage, Seconds, SlowerThan};
use assignment::Weight;
use assignment::contract::Stickiness;
use placed_yaml::{Entry, Node, Section};
use std::collections::BTreeMap;

pub(in crate::spec) const FAILURE_ACTIONS: [(&str, FailureAction); 3] =
    [("rollback", FailureAction::Rollback), ("stop", FailureAction::Stop), ("hold", FailureAction::Hold)];
pub(in crate::spec) const SUCCESS_ACTIONS: [(&str, SuccessAction); 2] =
    [("promote", SuccessAction::Promote), ("wait", SuccessAction::Wait)];
pub(in crate::spec) const GATES: [(&str, Gate); 2] = [("evidence", Gate::Evidence), ("manual", Gate::Manual)];

/// More steps than this have no purpose, and the record of a release keeps them.
pub(in crate::spec) const MAX_STEPS: usize = 50;
/// Beyond this an alarm says nothing.
const MAX_FALSE_ALARM: f64 = 0.5;
/// A driver observes each ten seconds; a weight that ends sooner ends between two observations.
const MIN_EXPIRY: u64 = 30;

/// Reads it, if it is there. Faults are recorded, and a default stands in their place.
pub(super) fn rollout(
    section: Option<Section<'_>>,
    subject: &MetricSubject<'_>,
    users: Option<&Users>,
    has_latencies: bool,
) -> RolloutSpec {
    let has_cookie = users.is_some_and(Users::has_session_cookie);
    let has_sessions = has_cookie && users.is_some_and(|users| users.stickiness == Stickiness::Session);
    let Some(mut section) = section else {
        let policy = RolloutPolicy { lost_sessions: has_sessions, ..RolloutPolicy::default() };
        return RolloutSpec { policy, ..RolloutSpec::default() };
    };
    let lost_sessions = lost_sessions(&mut section, users.is_none() || has_cookie).unwrap_or(has_sessions);
    let (slower_than, slower_than_of_stable) = slower_than(&mut section, has_latencies);
    let policy = RolloutPolicy { slower_than, lost_sessions, ..policy(&mut section) };
    let windows = windows(&mut section);
    let depends_on = dependencies(&mut section, subject);
    let alerts = alerts(&mut section);
    let analysis = analysis(&mut section, subject);
    let hooks = hooks(&mut section, &alerts);
    let entries = section.entries_of("plans").unwrap_or_default();
    let named = entries.iter().map(|entry| (entry.key.clone(), plan(&section, entry, &policy)));
    let mut plans: BTreeMap<String, Vec<RolloutStep>> = named.collect();
    plans.entry(DEFAULT_PLAN.to_owned()).or_insert_with(RolloutSpec::default_plan);
    section.finish();
    RolloutSpec { plans, policy, slower_than_of_stable, windows, depends_on, alerts, analysis, hooks }
}

fn policy(section: &mut Section<'_>) -> RolloutPolicy {
    let default = RolloutPolicy::default();
    let on_failure = section.choice("onFailure", &FAILURE_ACTIONS).unwrap_or_default();
    RolloutPolicy {
        false_alarm: checked(section, "falseAlarm", "more than 0 and at most 50%", |share: &Percentage| {
            (f64::MIN_POSITIVE..=MAX_FALSE_ALARM).contains(&share.as_fraction())
        })
        .unwrap_or(default.false_alarm),
        max_errors: section.parsed("maxErrors"),
        min_responses: min_responses(section).unwrap_or(default.min_responses),
        client_errors: section.flag("clientErrors").unwrap_or(default.client_errors),
        slower_than: default.slower_than,
        lost_sessions: default.lost_sessions,
        max_pod_restarts: section.parsed("maxPodRestarts").unwrap_or(default.max_pod_restarts),
        on_failure,
        on_success: section.choice("onSuccess", &SUCCESS_ACTIONS).unwrap_or_default(),
        deadline: section.parsed("deadline").unwrap_or(default.deadline),
        max_held: max_held(section, on_failure),
        expires_in: checked(section, "expiresIn", "at least 30s", |time: &Seconds| time.get() >= MIN_EXPIRY)
            .unwrap_or(default.expires_in),
        stalled_after: section.parsed("stalledAfter").unwrap_or(default.stalled_after),
        observe: section.flag("observe").unwrap_or(default.observe),
    }
}

/// The longest hold; beside `onFailure: hold` its end would be another hold.
fn max_held(section: &mut Section<'_>, on_failure: FailureAction) -> Option<Seconds> {
    let node = section.node("maxHeld")?;
    let max_held = section.parsed("maxHeld");
    if on_failure == FailureAction::Hold {
        let message = "expected `onFailure: rollback` or `onFailure: stop` beside `maxHeld`, found `hold`";
        section.fault(node.place, message, Some("the end of a hold is the action of `onFailure`".to_owned()));
    }
    max_held
}

/// Whether lost sessions are failures; of a release that names no session cookie none is seen.
fn lost_sessions(section: &mut Section<'_>, has_cookie: bool) -> Option<bool> {
    let node = section.node("lostSessions")?;
    let asked = section.flag("lostSessions")?;
    if asked && !has_cookie {
        let message = "expected `spec.session.cookie` beside `lostSessions: true`, found none";
        let hint =
            "name the session cookie of the application: its value tells whether a response takes a session";
        section.fault(node.place, message, Some(hint.to_owned()));
    }
    Some(asked)
}

/// A time, or a percentile of stable's responses, which are counted only where the release has a histogram of them.
fn slower_than(
    section: &mut Section<'_>,
    has_latencies: bool,
) -> (Option<Milliseconds>, Option<LatencyPercentile>) {
    let Some(node) = section.node("slowerThan") else { return (None, None) };
    match section.parse(node) {
        None => (None, None),
        Some(SlowerThan::Time(time)) => (Some(time), None),
        Some(SlowerThan::OfStable(percentile)) => {
            if !has_latencies {
                let message = format!("expected `latencyHistogram: true` beside `{percentile}`, found none");
                let hint = "the proxies count how long responses take only then; a time needs none";
                section.fault(node.place, message, Some(hint.to_owned()));
            }
            (None, Some(percentile))
        }
    }
}

/// Of a step, or of all steps.
fn min_responses(section: &mut Section<'_>) -> Option<u64> {
    checked(section, "minResponses", "at least 1", |count: &u64| *count > 0)
}

/// A value that its type understands and that fits; one that does not is a fault.
pub(super) fn checked<T: std::str::FromStr<Err: std::fmt::Display>>(
    section: &mut Section<'_>,
    field: &'static str,
    expected: &str,
    fits: impl Fn(&T) -> bool,
) -> Option<T> {
    let node = section.node(field)?;
    let value: T = section.parse(node)?;
    if fits(&value) {
        return Some(value);
    }
    let found = section.scalar(node).unwrap_or_default();
    section.fault(node.place, format!("expected {expected}, found `{found}`"), None);
    None
}

fn plan(section: &Section<'_>, entry: &Entry, policy: &RolloutPolicy) -> Vec<RolloutStep> {
    if let Err(error) = entry.key.parse::<Label>() {
        section.fault(entry.place, error.to_string(), None);
    }
    let items = section.items(&format!("plans.{}", entry.key), &entry.node).unwrap_or_default();
    if !(1..=MAX_STEPS).contains(&items.len()) {
        let message = format!("expected 1 to {MAX_STEPS} steps, found {}", items.len());
        section.fault(entry.node.place, message, None);
    }
    let mut steps: Vec<RolloutStep> = Vec::new();
    for (path, node) in items {
        let Some(step) = step(Section::new(section.faults(), path, node)) else { continue };
        check(section, node, &step, steps.last(), policy);
        steps.push(step);
    }
    steps
}

fn step(mut section: Section<'_>) -> Option<RolloutStep> {
    let weight = section.required_parsed::<Weight>("weight");
    let hold = section.parsed::<Seconds>("hold").unwrap_or(RolloutStep::HOLD);
    let gate = section.choice("gate", &GATES).unwrap_or_default();
    let min_responses = min_responses(&mut section);
    section.finish();
    Some(RolloutStep { weight: weight?, hold, gate, min_responses })
}

/// Checks a step against the one before it.
fn check(
    section: &Section<'_>,
    node: &Node,
    step: &RolloutStep,
    before: Option<&RolloutStep>,
    policy: &RolloutPolicy,
) {
    let weight = step.weight;
    if let Some(before) = before.filter(|before| before.weight >= weight) {
        let message =
            format!("expected a weight above the {} of the step before, found {weight}", before.weight);
        section.fault(node.place, message, None);
    }
    if step.gate == Gate::Manual {
        return;
    }
    let hint = |hint: &str| Some(hint.to_owned());
    if weight == Weight::ZERO {
        let message = "expected `gate: manual` in a step without users of the canary, found none";
        section.fault(node.place, message, hint("testers alone reach the canary there, and are not counted"));
    } else if weight == Weight::FULL && policy.max_errors.is_none() {
        let message = "expected `gate: manual` or `maxErrors` in a step at 100%, found neither";
        section.fault(node.place, message, hint("no user of stable is left to compare with"));
    }
}
