//! What may be wrong with two versions beside each other, and is not refused.

use crate::checks::CheckContext;
use crate::deployed::autoscalers;
use crate::names::is_twinned;
use crate::plan::{Action, TwinDecision};
use crate::{Object, Phase};

/// Arguments of programs that elect a leader among their pods.
const ELECTION: [&str; 2] = ["leader-elect", "election-id"];

pub(crate) fn warnings(context: &CheckContext<'_>, decisions: &[TwinDecision]) -> Vec<String> {
    let mut warnings = Vec::new();
    if matches!(context.rules.phase, Phase::Alone { .. }) {
        return warnings;
    }
    if elects_a_leader(context.deployment) {
        warnings.push(format!(
            "{} elects a leader: the versions share the Lease, and either may be the leader",
            context.deployment
        ));
    }
    for object in autoscalers(context.candidate, context.deployment.chart_name()) {
        if !is_twinned(object) {
            warnings.push(format!(
                "{object} scales by a queue and stays with stable: the canary has fixed replicas"
            ));
        }
    }
    let is_definition =
        |one: &&TwinDecision| one.action == Action::Gone && one.kind == "CustomResourceDefinition";
    let gone: Vec<_> = decisions.iter().filter(is_definition).map(|one| one.name.as_str()).collect();
    if !gone.is_empty() {
        warnings.push(format!(
            "this version of the chart has no CustomResourceDefinition {} any more: what deletes it at the end of the promotion \
             deletes every object of it",
            gone.join(", ")
        ));
    }
    let shared = decisions.iter().filter(|one| one.action == Action::Shared && !one.differences.is_empty());
    let late: Vec<_> = shared.map(|one| format!("{} {}", one.kind, one.name)).collect();
    if !late.is_empty() {
        warnings.push(format!(
            "the canary runs with stable's {} until the promotion is finished",
            late.join(", ")
        ));
    }
    warnings
}

fn elects_a_leader(deployment: &Object) -> bool {
    let pods = deployment.value().pointer("/spec/template/spec").map(ToString::to_string);
    pods.is_some_and(|text| ELECTION.iter().any(|argument| text.contains(argument)))
}
