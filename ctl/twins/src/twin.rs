//! A workload or its autoscaler as a twin: name, version label, selectors, replicas.

use crate::names::Names;
use crate::object::VERSION;
use crate::selector::{matches, pod_labels};
use crate::{Object, Phase, Rules};
use serde_json::{Map, Value, json};

/// An object of the new render as a twin.
pub(crate) fn twin(
    object: &Object,
    names: &Names,
    rules: &Rules,
    is_scaled: bool,
    deployed: Option<&Object>,
) -> Object {
    let mut twin = object.clone();
    names.rewrite(&mut twin);
    twin.rename(names.name(object.kind(), object.chart_name()));
    if ["ConfigMap", "Secret"].contains(&object.kind()) {
        return twin;
    }
    let version = rules.phase.rendered_version();
    twin.annotate(VERSION, version);
    let lowest = rules.replicas.filter(|_| matches!(rules.phase, Phase::Beside { .. }));
    match object.kind() {
        "Deployment" => {
            narrow_terms(&mut twin, rules, version);
            label_pods(&mut twin, &rules.version_label, version);
            narrow_selector(&mut twin, &rules.version_label, version);
            if is_scaled {
                remove(twin.value_mut(), "spec", "replicas");
            } else {
                set_replicas(&mut twin, rules, deployed);
            }
        }
        "HorizontalPodAutoscaler" => set_lowest(&mut twin, "minReplicas", "maxReplicas", lowest),
        "ScaledObject" => set_lowest(&mut twin, "minReplicaCount", "maxReplicaCount", lowest),
        _ => {}
    }
    twin
}

/// A Deployment without what distinguishes two versions of it: for a comparison of what the chart says.
pub(crate) fn neutral(deployment: &Object, rules: &Rules) -> Object {
    let label = &rules.version_label;
    let mut neutral = deployment.clone();
    narrow_terms(&mut neutral, rules, "");
    label_pods(&mut neutral, label, "");
    narrow_selector(&mut neutral, label, "");
    remove(neutral.value_mut(), "spec", "replicas");
    if let Some(Value::Object(labels)) = neutral.value_mut().pointer_mut("/metadata/labels") {
        labels.remove(label);
    }
    neutral
}

/// The parts of a Deployment with the chart's name that are narrowed to its version. A running one keeps its own: a selector cannot change,
/// and another term in the template replaces the pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Narrowed {
    pub(crate) selector: bool,
    /// The terms of affinity and spreading that mean its own pods.
    pub(crate) terms: bool,
}

impl Narrowed {
    /// As it is deployed; both, where nothing is.
    pub(crate) fn as_deployed(deployed: Option<&Object>, rules: &Rules) -> Self {
        let Some(deployed) = deployed else { return Self { selector: true, terms: true } };
        let label = &rules.version_label;
        let labels = deployed.value().pointer("/spec/selector/matchLabels");
        let selector = labels.is_some_and(|labels| labels.get(label).is_some());
        let mut terms = false;
        let mut copy = deployed.clone();
        for_own_terms(&mut copy, rules, &mut |selector| {
            terms |= selector.pointer("/matchLabels").is_some_and(|all| all.get(label).is_some());
        });
        Self { selector, terms }
    }
}

/// Marks the pods of a Deployment with their version.
pub(crate) fn adopt(deployment: &Object, rules: &Rules, version: &str, narrowed: Narrowed) -> Object {
    let mut adopted = deployment.clone();
    if narrowed.terms {
        narrow_terms(&mut adopted, rules, version);
    }
    label_pods(&mut adopted, &rules.version_label, version);
    adopted.annotate(VERSION, version);
    if narrowed.selector {
        narrow_selector(&mut adopted, &rules.version_label, version);
    }
    adopted
}

/// Replicas that were asked for with `--replicas`, which are not the chart's: a version keeps them when its promotion is finished.
const REPLICAS: &str = "canary-ctl.io/replicas";

/// Sets the replicas that are asked for, or those that were: no fewer than the chart's, and no fewer than serve the version's users already.
fn set_replicas(twin: &mut Object, rules: &Rules, deployed: Option<&Object>) {
    let charts = twin.value().pointer("/spec/replicas").and_then(Value::as_u64);
    let asked = deployed.and_then(|deployed| deployed.annotation(REPLICAS)?.parse::<u64>().ok());
    let kept = asked.filter(|asked| charts.is_none_or(|charts| *asked > charts));
    let Some(replicas) = rules.replicas.map(u64::from).or(kept) else { return };
    twin.set(&["spec", "replicas"], json!(replicas));
    if charts != Some(replicas) {
        twin.annotate(REPLICAS, &replicas.to_string());
    }
}

/// The pod template of a twin that is deployed, where the new one differs in nothing but metadata of the chart, such as the checksum of a Secret that is
/// random: a change of that would restart the pods.
pub(crate) fn keep_template(twin: &mut Object, deployed: Option<&Object>) {
    let Some(deployed) =
        deployed.filter(|old| old.is_twin() && old.annotation(VERSION) == twin.annotation(VERSION))
    else {
        return;
    };
    let is_template = |one: &crate::Difference| one.field.starts_with("spec.template");
    if !crate::differences(deployed, twin).iter().any(is_template)
        && let Some(template) = deployed.value().pointer("/spec/template")
    {
        twin.set(&["spec", "template"], template.clone());
    }
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

/// Adds the version to the pods' labels.
fn label_pods(deployment: &mut Object, label: &str, version: &str) {
    deployment.set(&["spec", "template", "metadata", "labels", label], json!(version));
}

/// Adds the version to the terms of affinity and spreading that mean the Deployment's own pods.
fn narrow_terms(deployment: &mut Object, rules: &Rules, version: &str) {
    let label = &rules.version_label;
    for_own_terms(deployment, rules, &mut |selector| {
        crate::object::set(selector, &["matchLabels", label], json!(version));
    });
}

/// Whether pods of another version are kept off the places of these by a term that mean them too: Kubernetes holds a required anti-affinity of pods
/// that run against those that come.
pub(crate) fn keeps_away(deployment: &Object, rules: &Rules) -> bool {
    let Some(own) = pod_labels(deployment) else { return false };
    let terms = deployment.value().pointer("/spec/template/spec/affinity/podAntiAffinity");
    let terms =
        terms.and_then(|terms| terms.get("requiredDuringSchedulingIgnoredDuringExecution")?.as_array());
    let narrowed = Narrowed::as_deployed(Some(deployment), rules).terms;
    !narrowed && terms.into_iter().flatten().any(|term| means(term, own, &rules.namespace))
}

/// Calls `edit` with the selector of each term that means the Deployment's own pods.
fn for_own_terms(deployment: &mut Object, rules: &Rules, edit: &mut dyn FnMut(&mut Value)) {
    let own = pod_labels(deployment).cloned().unwrap_or_default();
    let Some(spec) = deployment.value_mut().pointer_mut("/spec/template/spec") else { return };
    let visit = &mut |term: &mut Value| {
        if means(term, &own, &rules.namespace)
            && let Some(selector) = term.get_mut("labelSelector")
        {
            edit(selector);
        }
    };
    if let Some(Value::Array(terms)) = spec.get_mut("topologySpreadConstraints") {
        terms.iter_mut().for_each(&mut *visit);
    }
    // Terms about nodes have no label selector.
    let affinities = spec.get_mut("affinity").and_then(Value::as_object_mut);
    for affinity in affinities.into_iter().flat_map(Map::values_mut) {
        if let Some(Value::Array(terms)) = affinity.get_mut("requiredDuringSchedulingIgnoredDuringExecution")
        {
            terms.iter_mut().for_each(&mut *visit);
        }
        if let Some(Value::Array(terms)) = affinity.get_mut("preferredDuringSchedulingIgnoredDuringExecution")
        {
            terms.iter_mut().filter_map(|term| term.get_mut("podAffinityTerm")).for_each(&mut *visit);
        }
    }
}

/// Whether a term is about pods with these labels in this namespace: one without `namespaces` is about the pods' own.
fn means(term: &Value, own: &Map<String, Value>, namespace: &str) -> bool {
    let elsewhere = term.get("namespaces").and_then(Value::as_array);
    let is_here = |names: &Vec<Value>| names.is_empty() || names.iter().any(|name| name == namespace);
    elsewhere.is_none_or(is_here) && term.get("labelSelector").is_some_and(|selector| matches(selector, own))
}
