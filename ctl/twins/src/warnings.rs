//! What may be wrong with two versions beside each other, and is not refused.

use crate::checks::{CheckContext, pod_change};
use crate::custom_reference::unfollowed;
use crate::deployed::{autoscalers, is_autoscaler};
use crate::names::is_twinned;
use crate::plan::{Action, TwinDecision, is_scaled};
use crate::reference::rewrite;
use crate::twin::{Narrowed, keeps_away};
use crate::{Object, Phase};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Arguments of programs that elect a leader among their pods.
const ELECTION: [&str; 2] = ["leader-elect", "election-id"];

pub(crate) fn warnings(
    context: &CheckContext<'_>,
    output: &[Object],
    decisions: &[TwinDecision],
) -> Vec<String> {
    let mut warnings = unfollowed_references(context, output);
    if matches!(context.rules.phase, Phase::Alone { .. }) {
        warnings.extend(replaced_pods(context, output));
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
    warnings.extend(places(context));
    warnings.extend(recommendations(context));
    warnings.extend(replicas(context, output));
    warnings.extend(shared_references(context));
    warnings.extend(later(decisions));
    warnings
}

/// Warns of objects that go or come at the end of the promotion alone.
fn later(decisions: &[TwinDecision]) -> Vec<String> {
    let mut warnings = Vec::new();
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

/// A required anti-affinity of pods that run holds against those that come, too.
fn places(context: &CheckContext<'_>) -> Option<String> {
    let stable = context.deployed.counterpart(context.deployment)?;
    keeps_away(stable, context.rules).then(|| {
        format!(
            "the required anti-affinity of {stable} means the canary's pods too: they start where no pod of stable is, and else wait"
        )
    })
}

/// A `VerticalPodAutoscaler` takes the pods of its target's selector; nothing refuses two that overlap.
fn recommendations(context: &CheckContext<'_>) -> Option<String> {
    let stable = context.deployed.counterpart(context.deployment)?;
    let scalers = autoscalers(context.deployed.stable.iter().copied(), stable.name());
    let vertical = scalers.into_iter().find(|one| one.kind() == "VerticalPodAutoscaler")?;
    let is_narrow = Narrowed::as_deployed(Some(stable), context.rules).selector;
    (!is_narrow && !is_scaled(context.deployed.stable.iter().copied(), stable)).then(|| {
        format!("{vertical} of stable recommends from the canary's pods too: the selector of {stable} does not name the version")
    })
}

/// A Deployment without `replicas` gets one pod, and users of all of stable's may come to it.
fn replicas(context: &CheckContext<'_>, output: &[Object]) -> Option<String> {
    let CheckContext { deployment, candidate, names, .. } = context;
    let name = names.name_of(deployment);
    let twin = output.iter().find(|one| one.kind() == "Deployment" && one.is_twin() && one.name() == name)?;
    if is_scaled(*candidate, deployment) {
        return None;
    }
    match twin.value().pointer("/spec/replicas").and_then(Value::as_u64) {
        None => Some(format!(
            "{twin} has no `replicas`, and nothing that each version has scales it: it begins with one pod, or with the number that the render is \
             given, which it keeps at the end of the promotion"
        )),
        Some(0) => Some(format!(
            "{twin} has `replicas: 0`: the canary has no pod, unless the render is given a number"
        )),
        Some(_) => None,
    }
}

/// A shared object that names a twinned workload means stable's until the promotion is finished.
fn shared_references(context: &CheckContext<'_>) -> Vec<String> {
    let CheckContext { deployment, candidate, deployed, names, rules } = context;
    let is_about = |object: &&Object| {
        object.is_in(&rules.namespace)
            && !names.is_twin(object)
            && !is_autoscaler(object)
            && deployed.counterpart(object).is_some()
            && names_deployment(object, deployment.chart_name(), &rules.namespace)
    };
    let about = candidate.iter().filter(|_| names.is_twin(deployment)).filter(is_about);
    let name = names.name_of(deployment);
    about
        .map(|object| {
            format!("{object} names {deployment} and is about stable's until the promotion is finished, then about {name}: nothing of its kind is about the canary")
        })
        .collect()
}

fn names_deployment(object: &Object, deployment: &str, namespace: &str) -> bool {
    let mut found = false;
    rewrite(&mut object.clone(), namespace, &mut |kind, name| {
        found |= kind == "Deployment" && name == deployment;
    });
    found
}

/// References of custom resources in forms that are not known stay as they are.
fn unfollowed_references(context: &CheckContext<'_>, output: &[Object]) -> Vec<String> {
    let services: BTreeSet<&str> =
        context.candidate.iter().filter(|one| one.kind() == "Service").map(Object::name).collect();
    let renamed: BTreeMap<&str, (&str, &str)> =
        context.names.renamed().map(|(kind, chart, name)| (chart, (kind, name))).collect();
    let mut warnings = Vec::new();
    for object in output.iter().filter(|object| object.is_custom() && object.is_in(&context.rules.namespace))
    {
        let found =
            unfollowed(object.value(), &|text| renamed.contains_key(text), &|text| services.contains(text));
        for (path, text) in found {
            let Some((kind, name)) = renamed.get(text) else { continue };
            warnings.push(format!(
                "{object} names `{text}` in `{path}`, which is not followed: {kind} {text} of this version is deployed as {name}"
            ));
        }
    }
    warnings
}

/// One version alone may get other pods, which end the sessions of those before.
fn replaced_pods(context: &CheckContext<'_>, output: &[Object]) -> Option<String> {
    let (rules, deployed) = (context.rules, context.deployed);
    let new = output.iter().find(|new| deployed.is_same(new, context.deployment))?;
    let change = pod_change(deployed.named(new)?, new, &rules.version_label)?;
    Some(format!("{new} gets other pods, which end the sessions of those before: `{change}` changes"))
}

fn elects_a_leader(deployment: &Object) -> bool {
    let pods = deployment.value().pointer("/spec/template/spec").map(ToString::to_string);
    pods.is_some_and(|text| ELECTION.iter().any(|argument| text.contains(argument)))
}
