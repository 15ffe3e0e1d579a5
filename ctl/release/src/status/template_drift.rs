//! Deployments behind the Service whose pods were those of a live version and are made from another template now.
//!
//! A version of a Helm chart is deployed with its label in the pods' template and an annotation on the Deployment, which the post-renderer
//! adds. An upgrade without the post-renderer takes both away, deletes the Deployments of the other versions, and reports success. What
//! it leaves: the Deployment, and the `ReplicaSets` of its templates before. To each of them the controller has copied the annotations
//! that the Deployment had ([`SetNewReplicaSetAnnotations`](https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/controller/deployment/util/deployment_util.go)).
//! Where pods have got the label while they ran, and nothing was deployed through the post-renderer yet, there is no such annotation:
//! the `ReplicaSet` of that time says what they were.

use super::ReadyPods;
use super::adopted_template::{is_adopted, makes_other_pods};
use crate::label_selector;
use crate::object::Reference;
use crate::plan::VERSION_ANNOTATION;
use crate::record::Record;
use assignment::contract::{Role, VersionConfig};
use serde_json::{Map, Value};
use std::fmt;

/// The revision of the Deployment that a `ReplicaSet` is of.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// The Helm release that an object belongs to.
pub(super) const HELM_RELEASE: &str = "meta.helm.sh/release-name";

/// A Deployment that replaces the pods of a live version by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateDrift {
    /// The Deployment.
    pub deployment: Reference,
    /// The Helm release that it belongs to.
    pub helm_release: Option<String>,
    /// The name of the version label.
    pub label: String,
    /// The version that its pods were of.
    pub version: String,
    /// The role of that version.
    pub role: Role,
    /// The label's value in the template now.
    pub found: Option<String>,
    /// The images that the template has changed, before and now.
    pub images: Vec<(String, String)>,
    /// The other live versions that no Deployment makes pods of.
    pub without_deployment: Vec<String>,
    /// Its pods got the label while they ran, and nothing with the annotation was deployed since.
    pub is_adopted: bool,
}

/// The workloads of a namespace, as the API server returns them.
#[derive(Clone, Debug, Default)]
pub struct Workloads {
    /// The labels that the Service selects.
    pub selector: Map<String, Value>,
    /// The Deployments.
    pub deployments: Vec<Value>,
    /// The `ReplicaSets`. They are needed only where [`needs_replica_sets`](Self::needs_replica_sets).
    pub replica_sets: Vec<Value>,
}

impl Workloads {
    /// The Deployments whose pods the Service selects.
    pub(super) fn behind(&self) -> impl Iterator<Item = &Value> {
        let is_behind = |deployment: &&Value| {
            !self.selector.is_empty()
                && label_selector::contains(&template_labels(deployment), &self.selector)
        };
        self.deployments.iter().filter(is_behind)
    }

    /// Whether a Deployment behind the Service may have lost its version: one without the annotation that is Helm's, has no label, or has one
    /// that it got while it ran.
    pub fn needs_replica_sets(&self, label: &str) -> bool {
        self.behind().any(|deployment| {
            let found = template_labels(deployment).contains_key(label);
            let is_helms = annotation(deployment, HELM_RELEASE).is_some();
            !has_annotation(deployment) && (!found || is_helms || is_adopted(deployment, label))
        })
    }
}

impl TemplateDrift {
    /// All of a release. `ready` are the pods of its live versions, in the record's order.
    pub fn all(record: &Record, ready: &[ReadyPods], workloads: &Workloads) -> Vec<Self> {
        let drifted = workloads.behind().filter_map(|deployment| {
            let (version, before) = version_before(record, ready, workloads, deployment)?;
            let label = &record.service.label;
            let found = version_of(deployment, label);
            let is_adopted = before.is_some_and(|before| !has_annotation(before));
            // Before the first deployment through the post-renderer there is no canary yet.
            let has_others = !(is_adopted && found == Some(&version.name));
            let missing = record.state.versions.iter().filter(|other| {
                has_others && other.name != version.name && !has_deployment(workloads, label, &other.name)
            });
            Some(Self {
                deployment: Reference::of(deployment).ok()?,
                helm_release: annotation(deployment, HELM_RELEASE).map(str::to_owned),
                label: label.clone(),
                version: version.name.clone(),
                role: version.role,
                found: found.map(str::to_owned),
                images: before.map(|before| changed_images(before, deployment)).unwrap_or_default(),
                is_adopted,
                without_deployment: missing.map(|version| version.name.clone()).collect(),
            })
        });
        drifted.collect()
    }
}

/// The live version that a Deployment made pods of and does not any more, and the `ReplicaSet` that has its template.
fn version_before<'o>(
    record: &'o Record,
    ready: &[ReadyPods],
    workloads: &'o Workloads,
    deployment: &Value,
) -> Option<(&'o VersionConfig, Option<&'o Value>)> {
    let label = &record.service.label;
    let found = version_of(deployment, label);
    // A paused Deployment replaces no pod: its label may be about to be written.
    let is_paused = deployment.pointer("/spec/paused").and_then(Value::as_bool) == Some(true);
    if is_paused || (has_annotation(deployment) && annotation(deployment, VERSION_ANNOTATION) == found) {
        return None;
    }
    let live = |name: Option<&str>| record.state.versions.iter().find(|version| Some(&*version.name) == name);
    let is_drifted = |set: &&Value| {
        let before = version_of(set, label);
        // A Deployment that was never rendered with its version may be given another one by its owner.
        owner(set) == uid(deployment)
            && live(before).is_some()
            && (found.is_none()
                || (has_annotation(set) && !has_annotation(deployment))
                || (before == found && is_adopted(set, label) && makes_other_pods(set, deployment)))
    };
    let before = workloads.replica_sets.iter().filter(is_drifted).max_by_key(|set| revision(set));
    if let Some(before) = before {
        return Some((live(version_of(before, label))?, Some(before)));
    }
    // Under a name of its own a version leaves no ReplicaSet behind.
    let is_lost = |(version, pods): &(&VersionConfig, &ReadyPods)| {
        pods.ready == 0 && !has_deployment(workloads, label, &version.name)
    };
    let lost = record.state.versions.iter().zip(ready).filter(is_lost).map(|(version, _)| version);
    let lost = lost.min_by_key(|version| version.role != Role::Stable)?;
    found.is_none().then_some((lost, None))
}

fn has_deployment(workloads: &Workloads, label: &str, version: &str) -> bool {
    workloads.behind().any(|deployment| version_of(deployment, label) == Some(version))
}

fn template_labels(workload: &Value) -> Map<String, Value> {
    let labels = workload.pointer("/spec/template/metadata/labels").and_then(Value::as_object);
    labels.cloned().unwrap_or_default()
}

/// The value of the version label of the pods that a workload makes.
pub(super) fn version_of<'w>(workload: &'w Value, label: &str) -> Option<&'w str> {
    workload.pointer("/spec/template/metadata/labels")?.get(label)?.as_str()
}

pub(super) fn annotation<'o>(object: &'o Value, name: &str) -> Option<&'o str> {
    object.pointer("/metadata/annotations")?.get(name)?.as_str()
}

fn has_annotation(object: &Value) -> bool {
    annotation(object, VERSION_ANNOTATION).is_some()
}

fn uid(object: &Value) -> Option<&str> {
    object.pointer("/metadata/uid")?.as_str()
}

fn owner(object: &Value) -> Option<&str> {
    object.pointer("/metadata/ownerReferences/0/uid")?.as_str()
}

fn revision(set: &Value) -> u64 {
    annotation(set, REVISION).and_then(|revision| revision.parse().ok()).unwrap_or_default()
}

/// The images of containers that both templates have, before and now.
fn changed_images(before: &Value, now: &Value) -> Vec<(String, String)> {
    let containers = |workload: &Value| -> Vec<(String, String)> {
        let all = workload.pointer("/spec/template/spec/containers").and_then(Value::as_array);
        let text = |container: &Value, field: &str| Some(container.get(field)?.as_str()?.to_owned());
        let pair = |container: &Value| Some((text(container, "name")?, text(container, "image")?));
        all.into_iter().flatten().filter_map(pair).collect()
    };
    let now = containers(now);
    let image = |(name, image): (String, String)| {
        let (_, other) = now.iter().find(|(other, _)| *other == name)?;
        (*other != image).then(|| (image, other.clone()))
    };
    containers(before).into_iter().filter_map(image).collect()
}

impl fmt::Display for TemplateDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deployment, label, version, found, .. } = self;
        let role = self.role.as_str();
        match found {
            Some(found) if found == version && self.is_adopted => {
                write!(
                    f,
                    "{deployment} has another template than when its pods got the label `{label}: {version}`"
                )?;
            }
            Some(found) if found == version => {
                write!(f, "{deployment} has lost the annotation `{VERSION_ANNOTATION}: {version}`")?;
            }
            Some(found) => {
                write!(f, "{deployment} makes pods with `{label}: {found}`, expected `{version}`")?;
            }
            None => write!(f, "{deployment} makes pods without the label `{label}`, expected `{version}`")?,
        }
        for (before, now) in &self.images {
            write!(f, ", image `{now}` instead of `{before}`")?;
        }
        if found.as_ref() == Some(version) {
            write!(
                f,
                ": users of `{version}` ({role}) get these pods, and those before end with their sessions"
            )?;
        } else {
            let get = if self.role == Role::Stable { "errors" } else { "stable" };
            write!(
                f,
                ": they replace those of `{version}` ({role}), whose users get {get} when the last one has ended"
            )?;
        }
        match self.without_deployment.as_slice() {
            [] => Ok(()),
            missing => write!(f, "; no Deployment makes pods of `{}`", missing.join("`, `")),
        }
    }
}

#[cfg(test)]
#[path = "template_drift_tests.rs"]
mod tests;
