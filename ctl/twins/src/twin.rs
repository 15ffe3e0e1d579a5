//! A workload or its autoscaler as a twin: name, version label, selectors, replicas.

use crate::names::Names;
use crate::object::VERSION;
use crate::selector::{matches, pod_labels};
use crate::{Object, Phase, Rules};
use serde_json::{Map, Value, json};

/// An object of the new render as a twin.
pub(crate) fn twin(object: &Object, names: &Names, rules: &Rules, is_scaled: bool) -> Object {
    let mut twin = object.clone();
    names.rewrite(&mut twin);
    twin.rename(names.name(object.kind(), object.chart_name()));
    if ["ConfigMap", "Secret"].contains(&object.kind()) {
        return twin;
    }
    let version = rules.phase.rendered_version();
    twin.annotate(VERSION, version);
    let replicas = rules.replicas.filter(|_| matches!(rules.phase, Phase::Beside { .. }));
    match object.kind() {
        "Deployment" => {
            label_pods(&mut twin, &rules.version_label, version);
            narrow_selector(&mut twin, &rules.version_label, version);
            if is_scaled {
                remove(twin.value_mut(), "spec", "replicas");
            } else if let Some(replicas) = replicas {
                twin.set(&["spec", "replicas"], json!(replicas));
            }
        }
        "HorizontalPodAutoscaler" => set_lowest(&mut twin, "minReplicas", "maxReplicas", replicas),
        "ScaledObject" => set_lowest(&mut twin, "minReplicaCount", "maxReplicaCount", replicas),
        _ => {}
    }
    twin
}

/// A Deployment without what distinguishes two versions of it: for a comparison of what the chart says.
pub(crate) fn neutral(deployment: &Object, label: &str) -> Object {
    let mut neutral = deployment.clone();
    label_pods(&mut neutral, label, "");
    narrow_selector(&mut neutral, label, "");
    remove(neutral.value_mut(), "spec", "replicas");
    if let Some(Value::Object(labels)) = neutral.value_mut().pointer_mut("/metadata/labels") {
        labels.remove(label);
    }
    neutral
}

/// Marks the pods of a Deployment with their version.
pub(crate) fn adopt(deployment: &Object, rules: &Rules, version: &str, narrow: bool) -> Object {
    let mut adopted = deployment.clone();
    label_pods(&mut adopted, &rules.version_label, version);
    adopted.annotate(VERSION, version);
    if narrow {
        narrow_selector(&mut adopted, &rules.version_label, version);
    }
    adopted
}

fn set_lowest(autoscaler: &mut Object, lowest: &str, highest: &str, replicas: Option<u32>) {
    let Some(replicas) = replicas else { return };
    autoscaler.set(&["spec", lowest], json!(replicas));
    let limit = autoscaler.value().get("spec").and_then(|spec| spec.get(highest)).and_then(Value::as_u64);
    if limit.is_some_and(|limit| limit < u64::from(replicas)) {
        autoscaler.set(&["spec", highest], json!(replicas));
    }
}

fn remove(value: &mut Value, parent: &str, field: &str) {
    if let Some(Value::Object(map)) = value.get_mut(parent) {
        map.remove(field);
    }
}

fn narrow_selector(deployment: &mut Object, label: &str, version: &str) {
    deployment.set(&["spec", "selector", "matchLabels", label], json!(version));
}

/// Adds the version to the pods' labels, and to the terms of affinity and spreading that mean the Deployment's own pods.
fn label_pods(deployment: &mut Object, label: &str, version: &str) {
    let own = pod_labels(deployment).cloned().unwrap_or_default();
    deployment.set(&["spec", "template", "metadata", "labels", label], json!(version));
    let Some(spec) = deployment.value_mut().pointer_mut("/spec/template/spec") else { return };
    let narrow = &mut |term: &mut Value| narrow_term(term, &own, label, version);
    if let Some(Value::Array(terms)) = spec.get_mut("topologySpreadConstraints") {
        terms.iter_mut().for_each(&mut *narrow);
    }
    // Terms about nodes have no label selector.
    let affinities = spec.get_mut("affinity").and_then(Value::as_object_mut);
    for affinity in affinities.into_iter().flat_map(Map::values_mut) {
        if let Some(Value::Array(terms)) = affinity.get_mut("requiredDuringSchedulingIgnoredDuringExecution")
        {
            terms.iter_mut().for_each(&mut *narrow);
        }
        if let Some(Value::Array(terms)) = affinity.get_mut("preferredDuringSchedulingIgnoredDuringExecution")
        {
            terms.iter_mut().filter_map(|term| term.get_mut("podAffinityTerm")).for_each(&mut *narrow);
        }
    }
}

fn narrow_term(term: &mut Value, own: &Map<String, Value>, label: &str, version: &str) {
    if let Some(selector) = term.get_mut("labelSelector")
        && matches(selector, own)
    {
        crate::object::set(selector, &["matchLabels", label], json!(version));
    }
}
