//! What the twin's pods share with stable's: volumes, ports, disruption budgets, selectors of others.

use super::{Check, CheckContext, Refusals};
use crate::Object;
use crate::deployed::autoscalers;
use crate::reference::{pod_spec, references};
use crate::selector::{matches, pod_labels, workload_matches};
use serde_json::{Map, Value};

pub(super) fn check(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    check_own(context, refusals);
    check_claims(context, refusals);
    check_budgets(context, refusals);
    check_overlap(context, refusals);
}

fn check_own(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let deployment = context.deployment;
    let label = &context.rules.version_label;
    let selector = deployment.value().pointer("/spec/selector").map(Value::to_string).unwrap_or_default();
    if selector.contains(&Value::from(label.as_str()).to_string()) {
        let message = format!("expected a selector without the version label `{label}`, found {selector}");
        refusals.add(Check::VersionLabel, deployment, message);
    }
    if deployment.text("/spec/strategy/type") == "Recreate" {
        let message = "expected a Deployment whose pods may overlap, found `strategy.type: Recreate`";
        refusals.add(Check::Strategy, deployment, message);
    }
    let spec = pod_spec(deployment).cloned().unwrap_or_default();
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        refusals.add(
            Check::HostPort,
            deployment,
            "expected pods with a network of their own, found `hostNetwork: true`",
        );
    }
    for list in ["containers", "initContainers"] {
        let containers = spec.get(list).and_then(Value::as_array);
        let ports = containers.into_iter().flatten().filter_map(|one| one.get("ports")?.as_array());
        for port in ports.flatten().filter_map(|port| port.get("hostPort")) {
            let message = format!("expected no port of the node, found `hostPort: {port}`");
            refusals.add(Check::HostPort, deployment, message);
        }
    }
}

/// A volume that one node can mount keeps the twin's pods pending, or lets two versions write to one disk.
fn check_claims(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let named = references(context.deployment);
    for (_, name) in named.iter().filter(|(kind, _)| kind == "PersistentVolumeClaim") {
        let is_it = |object: &&Object| object.kind() == "PersistentVolumeClaim" && object.name() == name;
        let claim = context.candidate.iter().find(is_it);
        let modes = claim.and_then(|claim| claim.value().pointer("/spec/accessModes")).map(Value::to_string);
        let is_shared = |modes: &String| modes.contains("ReadWriteMany") || modes.contains("ReadOnlyMany");
        if !modes.as_ref().is_some_and(is_shared) {
            let found = modes.unwrap_or_else(|| "no claim of the chart".to_owned());
            let message = format!("expected `ReadWriteMany` or `ReadOnlyMany`, found {found}");
            refusals.add(Check::SharedClaim, &format!("PersistentVolumeClaim {name}"), message);
        }
    }
}

/// The labels of the twin's pods.
fn twin_labels(context: &CheckContext<'_>) -> Map<String, Value> {
    let mut labels = pod_labels(context.deployment).cloned().unwrap_or_default();
    labels.insert(context.rules.version_label.clone(), Value::from(context.rules.phase.rendered_version()));
    labels
}

/// Everything that will be deployed in the namespace of the twin and is none: stable's objects, and those that only the new render has.
fn shared<'c>(context: &'c CheckContext<'_>) -> impl Iterator<Item = &'c Object> {
    let deployed = context.deployed;
    let new = context.candidate.iter().filter(|object| deployed.counterpart(object).is_none());
    let all = deployed.stable.iter().copied().chain(new);
    all.filter(|object| object.is_in(&context.rules.namespace))
}

/// A pod in two budgets cannot be evicted: the API answers 500.
fn check_budgets(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let labels = twin_labels(context);
    let is_over = |object: &&Object| {
        object.kind() == "PodDisruptionBudget"
            && object.value().pointer("/spec/selector").is_some_and(|selector| matches(selector, &labels))
    };
    let budgets: Vec<_> = shared(context).filter(is_over).map(ToString::to_string).collect();
    if budgets.len() > 1 {
        let message =
            format!("expected at most one disruption budget over its pods, found {}", budgets.join(", "));
        refusals.add(Check::OneDisruptionBudget, context.deployment, message);
    }
}

/// Two autoscalers whose targets' selectors overlap both stop; other workloads' selectors count the twin's pods as theirs.
fn check_overlap(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let labels = twin_labels(context);
    for other in shared(context).filter(|object| pod_labels(object).is_some() && object.hook().is_empty()) {
        if !context.deployed.is_same(other, context.deployment) && workload_matches(other, &labels) {
            let scaled = autoscalers(shared(context), other.name());
            let why = if scaled.is_empty() { "" } else { ", and an autoscaler scales it" };
            let message = format!(
                "expected a selector that leaves out the twin's pods, found one that matches them{why}"
            );
            refusals.add(Check::SelectorOverlap, other, message);
        }
    }
}
