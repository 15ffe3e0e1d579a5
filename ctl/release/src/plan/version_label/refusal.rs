//! Why a running Deployment does not get the label, or does not lose it: checked before the first write.

use super::workload::{
    is_paused, own_label, own_labels, replicas, template, template_label, template_labels, text,
};
use super::{LabelDirection, LabelledWorkload, VersionLabel};
use crate::label_selector;
use crate::object::{ObjectError, Owners, Reference};
use crate::plan::rollout_status;
use serde_json::{Map, Value, json};

/// The annotation of objects that a version of a chart has for itself: the version.
pub const VERSION_ANNOTATION: &str = "canary-ctl.io/version";

/// The reason for which a running Deployment does not get the label, or does not lose it.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum LabelRefusal {
    /// Somebody else has paused it, and would find it resumed.
    #[error("expected {deployment} not paused, found `paused: true`{}", by(owners))]
    Paused {
        deployment: String,
        /// The field managers of the pause.
        owners: Vec<String>,
    },
    #[error("expected {deployment}, found it being deleted")]
    Terminating { deployment: String },
    /// There is no pod to keep.
    #[error("expected running pods of {deployment}, found `replicas: 0`")]
    NoReplicas { deployment: String },
    /// Pods are being replaced, or are not available.
    #[error("expected {deployment} rolled out, found {}{}", rolled_out(*updated, *replicas), failure.as_ref().map(|failure| format!(" ({failure})")).unwrap_or_default())]
    Incomplete {
        deployment: String,
        /// The pods of the newest template.
        updated: u64,
        /// The pods that there should be.
        replicas: u64,
        /// The reason for which Kubernetes has given the rollout up.
        failure: Option<String>,
    },
    #[error("expected a ReplicaSet with the template of {deployment}, found none")]
    NoReplicaSet { deployment: String },
    /// Pods of an earlier template still run.
    #[error("expected pods of the current template of {deployment}, found others: {}", pods.join(", "))]
    OtherPods { deployment: String, pods: Vec<String> },
    #[error("expected `{label}` or no such label in {object}, found `{found}`")]
    OtherValue {
        /// The Deployment, the `ReplicaSet` or the pod.
        object: String,
        /// The label with its value.
        label: String,
        /// The value that was found.
        found: String,
    },
    /// The selector would no longer match the pods.
    #[error("expected a selector of {object} that matches its pods with {after}, found {selector}")]
    Selector {
        /// The Deployment or the `ReplicaSet`.
        object: String,
        /// The label that the pods would have, or would not have any more.
        after: String,
        /// The selector, as JSON.
        selector: String,
    },
    /// Another `ReplicaSet` has the template that the Deployment would have: its controller may take that one.
    #[error(
        "expected one ReplicaSet with the resulting template of {deployment}, found another one: {replica_set}"
    )]
    SameTemplate {
        deployment: String,
        /// The other `ReplicaSet`.
        replica_set: String,
    },
    /// Another change of a label is not finished.
    #[error("expected {deployment} paused for the label `{label}`, found it paused for another one: {}", found.join(", "))]
    OtherLabel {
        deployment: String,
        /// The label's name.
        label: String,
        /// The names of the labels in which the templates of Deployment and `ReplicaSet` differ.
        found: Vec<String>,
    },
    /// The label is not ours to remove.
    #[error("expected the label `{label}` of {deployment} to be ours, found {found}")]
    Foreign {
        deployment: String,
        /// The label's name.
        label: String,
        /// Whose it is.
        found: String,
    },
    /// An object without a name.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

/// The progress of a rollout. Its controller may have more to do though the numbers are there.
fn rolled_out(updated: u64, replicas: u64) -> String {
    if updated < replicas {
        return format!("{updated} of {replicas} pods updated and available");
    }
    format!(
        "{replicas} pods of its template, and its controller not done: a change that it has not observed, or pods that are not available or end"
    )
}

fn by(owners: &[String]) -> String {
    if owners.is_empty() { String::new() } else { format!(" by {}", owners.join(", ")) }
}

/// Checks a Deployment that is not paused by us, and returns its current `ReplicaSet`.
pub(super) fn check<'w>(
    workload: &'w LabelledWorkload,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<&'w Value, LabelRefusal> {
    let deployment = workload.reference()?.to_string();
    check_rollout(&workload.deployment, &deployment)?;
    let Some(current) = workload.current(label) else {
        return Err(LabelRefusal::NoReplicaSet { deployment });
    };
    let is_current = |pod: &&Value| workload.pods_of(current).any(|own| own == *pod);
    let others = workload.pods.iter().filter(|pod| !is_current(pod));
    let pods: Vec<String> = others.filter_map(|pod| text(pod, "/metadata/name")).map(str::to_owned).collect();
    if !pods.is_empty() {
        return Err(LabelRefusal::OtherPods { deployment, pods });
    }
    check_values(workload, current, label)?;
    check_selectors(workload, current, label, direction)?;
    check_templates(workload, current, label, direction)?;
    if direction == LabelDirection::Remove {
        check_ownership(&workload.deployment, &deployment, label)?;
    }
    Ok(current)
}

fn check_rollout(object: &Value, deployment: &str) -> Result<(), LabelRefusal> {
    let deployment = deployment.to_owned();
    if text(object, "/metadata/deletionTimestamp").is_some() {
        return Err(LabelRefusal::Terminating { deployment });
    }
    if is_paused(object) {
        let owners = Owners::of(object);
        let owners = owners.others(&["spec", "paused"]).into_iter().map(|name| format!("`{name}`")).collect();
        return Err(LabelRefusal::Paused { deployment, owners });
    }
    if replicas(object) == 0 {
        return Err(LabelRefusal::NoReplicas { deployment });
    }
    let status = rollout_status(object);
    if status.is_complete {
        return Ok(());
    }
    let (updated, replicas, failure) = (status.updated, status.replicas, status.failure);
    Err(LabelRefusal::Incomplete { deployment, updated, replicas, failure })
}

fn check_values(
    workload: &LabelledWorkload,
    current: &Value,
    label: &VersionLabel,
) -> Result<(), LabelRefusal> {
    let templates = [&workload.deployment, current].map(|object| (object, template_label(object, label)));
    let pods = workload.pods.iter().map(|pod| (pod, own_label(pod, label)));
    for (object, found) in templates.into_iter().chain(pods) {
        if let Some(found) = found.filter(|found| *found != label.version) {
            let (label, found) = (label.to_string(), found.to_owned());
            return Err(LabelRefusal::OtherValue {
                object: Reference::of(object)?.to_string(),
                label,
                found,
            });
        }
    }
    Ok(())
}

/// A pod that its `ReplicaSet` does not select any more is replaced.
fn check_selectors(
    workload: &LabelledWorkload,
    current: &Value,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<(), LabelRefusal> {
    for object in [&workload.deployment, current] {
        let Some(selector) = object.pointer("/spec/selector") else { continue };
        let pods = workload.pods.iter().map(own_labels);
        let mut all = pods.chain([template_labels(object)]);
        if !all.all(|labels| label_selector::matches(selector, &after(labels, label, direction))) {
            let after = match direction {
                LabelDirection::Add => format!("`{label}`"),
                LabelDirection::Remove => format!("no `{}`", label.name),
            };
            let object = Reference::of(object)?.to_string();
            return Err(LabelRefusal::Selector { object, after, selector: selector.to_string() });
        }
    }
    Ok(())
}

fn check_templates(
    workload: &LabelledWorkload,
    current: &Value,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<(), LabelRefusal> {
    let mut wanted = template(&workload.deployment);
    let labels = json!(after(template_labels(&workload.deployment), label, direction));
    if let Some(metadata) = wanted.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("labels".to_owned(), labels);
    }
    let mut others = workload.replica_sets.iter().filter(|set| *set != current);
    match others.find(|set| template(set) == wanted) {
        None => Ok(()),
        Some(set) => Err(LabelRefusal::SameTemplate {
            deployment: workload.reference()?.to_string(),
            replica_set: Reference::of(set)?.to_string(),
        }),
    }
}

/// Refuses to remove a label that another owner has written, or that is deployed with a chart.
fn check_ownership(object: &Value, deployment: &str, label: &VersionLabel) -> Result<(), LabelRefusal> {
    if template_label(object, label).is_none() {
        return Ok(());
    }
    let owners = Owners::of(object);
    let others = owners.others(&["spec", "template", "metadata", "labels", &label.name]);
    let ours = owners.ours(object);
    let is_released =
        object.pointer("/metadata/annotations").is_some_and(|all| all.get(VERSION_ANNOTATION).is_some());
    let found = if is_released {
        format!("the annotation `{VERSION_ANNOTATION}`: it is deployed with the label")
    } else if !others.is_empty() {
        format!("the field manager `{}`", others.join("`, `"))
    } else if template_label(&ours, label).is_none() {
        "no field manager of ours".to_owned()
    } else {
        return Ok(());
    };
    Err(LabelRefusal::Foreign { deployment: deployment.to_owned(), label: label.name.clone(), found })
}

fn after(
    mut labels: Map<String, Value>,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Map<String, Value> {
    match direction {
        LabelDirection::Add => labels.insert(label.name.clone(), json!(label.version)),
        LabelDirection::Remove => labels.remove(&label.name),
    };
    labels
}
