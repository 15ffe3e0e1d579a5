//! The writes and waits that are left, in order.

use super::refusal::check;
use super::workload::{is_observed, own_label, replicas, template_label, unlabelled, without_labels};
use super::{LabelDirection, LabelRefusal, LabelledWorkload, VersionLabel};
use crate::object::Reference;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;

/// The steps that are left until the pods have the label, or have it no longer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelPlan {
    /// In order; none if everything is as it should be.
    pub steps: Vec<LabelStep>,
    /// Notes of later risks.
    pub notes: Vec<LabelNote>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LabelStep {
    /// An object is written.
    Write(LabelWrite),
    /// The controller of a `ReplicaSet` has to observe its template: until then it may create pods of the one before.
    AwaitReplicaSet(Reference),
    /// The controller of the Deployment has to take its `ReplicaSet` for the current one: otherwise it would make another.
    AwaitDeployment(Reference),
}

/// One write: a merge patch (RFC 7396) of the object at the version that was observed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelWrite {
    /// The object.
    pub object: Reference,
    /// The action for it.
    pub action: LabelAction,
    /// The patch.
    #[serde(skip)]
    pub patch: Value,
}

/// The action for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LabelAction {
    /// A Deployment rolls nothing out from now on.
    Pause,
    /// A template or a pod gets the label.
    Label,
    /// A template or a pod loses it.
    Unlabel,
    /// The Deployment rolls out again.
    Resume,
}

/// A later risk that is not refused.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LabelNote {
    /// An autoscaler of the Deployment: a second one, whose target's selector overlaps, stops both.
    Autoscaler { autoscaler: Reference },
    /// Autoscalers cannot be listed.
    AutoscalersNotListed { namespace: String },
    /// Affinity or spread terms mean the Deployment's own pods, and those of a canary: they stay as they are.
    OwnTerms { deployment: Reference },
}

impl fmt::Display for LabelNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autoscaler { autoscaler } => write!(
                f,
                "{autoscaler} scales it: with an autoscaler of the canary both stop (`AmbiguousSelector`) until the selector of the \
                 Deployment names the version"
            ),
            Self::AutoscalersNotListed { namespace } => write!(
                f,
                "not allowed to list HorizontalPodAutoscalers in `{namespace}`: with one of the canary both would stop (`AmbiguousSelector`) \
                 until the selector of the Deployment names the version"
            ),
            Self::OwnTerms { deployment } => write!(
                f,
                "affinity or spread terms of {deployment} mean its own pods, and the canary's too: they stay as they are, because another \
                 template would replace the pods; a required anti-affinity keeps the canary's pods off the nodes of these"
            ),
        }
    }
}

impl LabelPlan {
    /// The steps that are left.
    ///
    /// # Errors
    ///
    /// Where pods would be replaced, or what another owner has written would be overwritten. Not where we have paused the Deployment:
    /// what was begun is finished.
    pub fn new(
        workload: &LabelledWorkload,
        label: &VersionLabel,
        direction: LabelDirection,
    ) -> Result<Self, LabelRefusal> {
        let steps = if workload.is_paused_by_us() {
            continued(workload, label, direction)?
        } else {
            begun(workload, label, direction)?
        };
        let notes = match direction {
            LabelDirection::Add if workload.has_terms_about_own_pods() => {
                vec![LabelNote::OwnTerms { deployment: workload.reference()? }]
            }
            _ => Vec::new(),
        };
        Ok(Self { steps, notes })
    }

    /// The writes of the plan.
    pub fn writes(&self) -> impl Iterator<Item = &LabelWrite> {
        self.steps.iter().filter_map(|step| match step {
            LabelStep::Write(write) => Some(write),
            LabelStep::AwaitReplicaSet(_) | LabelStep::AwaitDeployment(_) => None,
        })
    }
}

/// The steps for a Deployment that is not paused.
fn begun(
    workload: &LabelledWorkload,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<Vec<LabelStep>, LabelRefusal> {
    let current = check(workload, label, direction)?;
    let mut steps = labelled(workload, current, label, direction)?;
    let is_template = |step: &LabelStep| match step {
        LabelStep::Write(write) => write.object.kind != "Pod",
        LabelStep::AwaitReplicaSet(_) | LabelStep::AwaitDeployment(_) => false,
    };
    if steps.iter().any(is_template) {
        let pause = json!({"paused": true});
        steps.insert(0, write(&workload.deployment, LabelAction::Pause, Map::new(), Some(pause))?);
        steps.push(resume(workload)?);
        return Ok(steps);
    }
    // Pods without the label, of a template with it, were created at the moment in which it was written. Whether such a label is
    // ours to remove is not known.
    steps.retain(|step| matches!(step, LabelStep::Write(_)) && direction == LabelDirection::Add);
    Ok(steps)
}

/// The steps for a Deployment that we have paused.
fn continued(
    workload: &LabelledWorkload,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<Vec<LabelStep>, LabelRefusal> {
    let mut steps = if let Some(current) = workload.current(label) {
        labelled(workload, current, label, direction)?
    } else {
        // Another client has changed the template meanwhile, and wants it rolled out.
        check_other_label(workload, label)?;
        Vec::new()
    };
    steps.push(resume(workload)?);
    Ok(steps)
}

/// Refuses to resume where the templates differ in another label: that would replace the pods.
fn check_other_label(workload: &LabelledWorkload, label: &VersionLabel) -> Result<(), LabelRefusal> {
    let wanted = without_labels(&workload.deployment);
    let is_alike = |set: &&Value| replicas(set) > 0 && without_labels(set) == wanted;
    let Some(alike) = workload.replica_sets.iter().find(is_alike) else { return Ok(()) };
    let (one, other) = [&workload.deployment, alike].map(|object| other_labels(object, label)).into();
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    let found = names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect();
    let deployment = workload.reference()?.to_string();
    Err(LabelRefusal::OtherLabel { deployment, label: label.name.clone(), found })
}

/// The labels in the template of an object, without this one.
fn other_labels(object: &Value, label: &VersionLabel) -> Map<String, Value> {
    let template = unlabelled(object, &label.name);
    template.pointer("/metadata/labels").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The steps between pause and resume. The template of the Deployment is written last, and taken back first.
fn labelled(
    workload: &LabelledWorkload,
    current: &Value,
    label: &VersionLabel,
    direction: LabelDirection,
) -> Result<Vec<LabelStep>, LabelRefusal> {
    let deployment = || template_write(&workload.deployment, label, direction, false);
    let mut steps = Vec::new();
    if direction == LabelDirection::Remove {
        steps.extend(deployment()?);
    }
    let set = template_write(current, label, direction, true)?;
    if set.is_some() || !is_observed(current) {
        steps.extend(set);
        steps.push(LabelStep::AwaitReplicaSet(Reference::of(current)?));
    }
    for pod in workload.pods_of(current).filter(|pod| !is_done(own_label(pod, label), label, direction)) {
        steps.push(write(pod, action(direction), written(label, direction), None)?);
    }
    if direction == LabelDirection::Add {
        steps.extend(deployment()?);
    }
    if !steps.is_empty() || !workload.is_settled() {
        steps.push(LabelStep::AwaitDeployment(workload.reference()?));
    }
    Ok(steps)
}

/// The write of a template; with the labels of the object itself, by which a Deployment finds its `ReplicaSets`.
fn template_write(
    object: &Value,
    label: &VersionLabel,
    direction: LabelDirection,
    with_own: bool,
) -> Result<Option<LabelStep>, LabelRefusal> {
    let is_own_done = !with_own || is_done(own_label(object, label), label, direction);
    if is_done(template_label(object, label), label, direction) && is_own_done {
        return Ok(None);
    }
    let labels = written(label, direction);
    let template = json!({"template": {"metadata": labels}});
    let own = if with_own { labels } else { Map::new() };
    write(object, action(direction), own, Some(template)).map(Some)
}

fn resume(workload: &LabelledWorkload) -> Result<LabelStep, LabelRefusal> {
    write(&workload.deployment, LabelAction::Resume, Map::new(), Some(json!({"paused": null})))
}

/// A write of these fields of `metadata` and `spec`.
fn write(
    object: &Value,
    action: LabelAction,
    mut metadata: Map<String, Value>,
    spec: Option<Value>,
) -> Result<LabelStep, LabelRefusal> {
    // A patch to a later version is refused.
    let version = object.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
    metadata.insert("resourceVersion".to_owned(), version);
    let spec = spec.map(|spec| ("spec".to_owned(), spec));
    let patch = std::iter::once(("metadata".to_owned(), Value::Object(metadata))).chain(spec).collect();
    Ok(LabelStep::Write(LabelWrite { object: Reference::of(object)?, action, patch }))
}

/// The label as a part of `metadata`; `null` removes it.
fn written(label: &VersionLabel, direction: LabelDirection) -> Map<String, Value> {
    let labels = json!({&label.name: value(label, direction)});
    Map::from_iter([("labels".to_owned(), labels)])
}

fn is_done(found: Option<&str>, label: &VersionLabel, direction: LabelDirection) -> bool {
    match direction {
        LabelDirection::Add => found == Some(&label.version),
        LabelDirection::Remove => found.is_none(),
    }
}

fn value(label: &VersionLabel, direction: LabelDirection) -> Value {
    match direction {
        LabelDirection::Add => json!(label.version),
        LabelDirection::Remove => Value::Null,
    }
}

const fn action(direction: LabelDirection) -> LabelAction {
    match direction {
        LabelDirection::Add => LabelAction::Label,
        LabelDirection::Remove => LabelAction::Unlabel,
    }
}
