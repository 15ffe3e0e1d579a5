//! A Deployment, its `ReplicaSets` and their pods, as they were observed.

use super::VersionLabel;
use crate::label_selector;
use crate::object::ObjectError;
use crate::object::{Owners, Reference};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The label that tells the `ReplicaSets` of a Deployment apart. Their controller writes it.
const TEMPLATE_HASH: &str = "pod-template-hash";
/// The labels of an object, and of the pods that it makes.
const LABELS: &str = "/metadata/labels";
const TEMPLATE_LABELS: &str = "/spec/template/metadata/labels";

/// A Deployment, its `ReplicaSets` and their pods, each as the API server returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledWorkload {
    pub(super) deployment: Value,
    pub(super) replica_sets: Vec<Value>,
    /// Without those that terminate or have ended.
    pub(super) pods: Vec<Value>,
}

impl LabelledWorkload {
    /// A Deployment, with those of the `ReplicaSets` and pods that belong to it.
    pub fn new(deployment: Value, replica_sets: Vec<Value>, pods: Vec<Value>) -> Self {
        let is_own = |set: &Value| owner(set).is_some_and(|owner| Some(owner) == uid(&deployment));
        let replica_sets: Vec<Value> = replica_sets.into_iter().filter(is_own).collect();
        let sets: BTreeSet<&str> = replica_sets.iter().filter_map(uid).collect();
        let is_own = |pod: &Value| owner(pod).is_some_and(|owner| sets.contains(owner));
        let pods: Vec<Value> = pods.into_iter().filter(|pod| is_own(pod) && is_running(pod)).collect();
        Self { deployment, replica_sets, pods }
    }

    /// The Deployment.
    ///
    /// # Errors
    ///
    /// If it has no name.
    pub fn reference(&self) -> Result<Reference, ObjectError> {
        Reference::of(&self.deployment)
    }

    /// Whether the Deployment is paused, and we did it: a change of its template is not finished.
    pub fn is_paused_by_us(&self) -> bool {
        let owners = Owners::of(&self.deployment);
        is_paused(&self.deployment)
            && owners.ours(&self.deployment).pointer("/spec/paused").is_some()
            && owners.others(&["spec", "paused"]).is_empty()
    }

    /// The `ReplicaSet` whose template is the Deployment's, apart from the label: the one with pods, of several.
    pub fn current(&self, label: &VersionLabel) -> Option<&Value> {
        let (exact, wanted) = (template(&self.deployment), unlabelled(&self.deployment, &label.name));
        let alike = self.replica_sets.iter().filter(|set| unlabelled(set, &label.name) == wanted);
        // The controller takes the oldest, by name where two are of the same second.
        alike.min_by_key(|set| {
            let age = (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name"));
            (replicas(set) == 0, template(set) != exact, age)
        })
    }

    /// The pods of a `ReplicaSet`.
    pub fn pods_of<'w>(&'w self, set: &'w Value) -> impl Iterator<Item = &'w Value> {
        self.pods.iter().filter(move |pod| owner(pod) == uid(set))
    }

    /// Whether the controller of the Deployment has observed its last change, and counts all pods as those of its template.
    pub fn is_settled(&self) -> bool {
        let status = |field: &str| number(&self.deployment, &format!("/status/{field}")).unwrap_or_default();
        let updated = status("updatedReplicas");
        is_observed(&self.deployment)
            && updated == status("replicas")
            && (updated > 0 || replicas(&self.deployment) == 0)
    }

    /// Whether affinity or spread terms of the pods mean the Deployment's own pods.
    pub fn has_terms_about_own_pods(&self) -> bool {
        let labels = labels(&self.deployment, TEMPLATE_LABELS);
        let spec = self.deployment.pointer("/spec/template/spec");
        let fields = ["topologySpreadConstraints", "affinity"];
        let terms = fields.iter().filter_map(|field| spec?.get(*field));
        terms.into_iter().any(|terms| has_selector_of(terms, &labels))
    }
}

/// Whether a `labelSelector` somewhere in a value matches these labels.
fn has_selector_of(value: &Value, labels: &Map<String, Value>) -> bool {
    match value {
        Value::Object(fields) => {
            let selects =
                fields.get("labelSelector").is_some_and(|selector| label_selector::matches(selector, labels));
            selects || fields.values().any(|value| has_selector_of(value, labels))
        }
        Value::Array(items) => items.iter().any(|item| has_selector_of(item, labels)),
        _ => false,
    }
}

/// The template of an object, without what distinguishes that of a `ReplicaSet` from that of its Deployment.
pub(super) fn template(object: &Value) -> Value {
    unlabelled(object, TEMPLATE_HASH)
}

/// The same without this label.
pub(super) fn unlabelled(object: &Value, name: &str) -> Value {
    let mut template = object.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(Value::Object(labels)) = template.pointer_mut(LABELS) {
        labels.remove(name);
        labels.remove(TEMPLATE_HASH);
    }
    template
}

/// The same without any label.
pub(super) fn without_labels(object: &Value) -> Value {
    let mut template = object.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(Value::Object(metadata)) = template.get_mut("metadata") {
        metadata.remove("labels");
    }
    template
}

/// The label in an object's template.
pub(super) fn template_label<'v>(object: &'v Value, label: &VersionLabel) -> Option<&'v str> {
    object.pointer(TEMPLATE_LABELS)?.get(&label.name)?.as_str()
}

/// The label of an object itself.
pub(super) fn own_label<'v>(object: &'v Value, label: &VersionLabel) -> Option<&'v str> {
    object.pointer(LABELS)?.get(&label.name)?.as_str()
}

/// The labels of the pods that an object makes.
pub(super) fn template_labels(object: &Value) -> Map<String, Value> {
    labels(object, TEMPLATE_LABELS)
}

pub(super) fn own_labels(object: &Value) -> Map<String, Value> {
    labels(object, LABELS)
}

fn labels(object: &Value, pointer: &str) -> Map<String, Value> {
    object.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Whether a Deployment rolls nothing out.
pub(super) fn is_paused(deployment: &Value) -> bool {
    deployment.pointer("/spec/paused") == Some(&Value::Bool(true))
}

/// Whether the controller of an object has observed its last change.
pub(super) fn is_observed(object: &Value) -> bool {
    number(object, "/status/observedGeneration").unwrap_or_default()
        >= number(object, "/metadata/generation").unwrap_or_default()
}

/// The number of pods that an object asks for.
pub(super) fn replicas(object: &Value) -> u64 {
    number(object, "/spec/replicas").unwrap_or(1)
}

/// The uid of an object.
pub fn uid(object: &Value) -> Option<&str> {
    text(object, "/metadata/uid")
}

/// The uid of the object that controls another one.
fn owner(object: &Value) -> Option<&str> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)))?;
    owner.get("uid")?.as_str()
}

fn is_running(pod: &Value) -> bool {
    let has_ended = matches!(text(pod, "/status/phase"), Some("Succeeded" | "Failed"));
    !has_ended && pod.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null)
}

pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}
