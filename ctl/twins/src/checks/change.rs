//! What would change of what is deployed: selectors, which Kubernetes does not change, and the pods that run.

use super::{Check, CheckContext, Refusals};
use crate::deployed::autoscalers;
use crate::selector::pod_labels;
use crate::{Object, VERSION};
use serde_json::Value;

/// The selector of a workload that is deployed is immutable (`apps/v1`): the upgrade would end there, with other objects written.
pub(super) fn check_selectors(context: &CheckContext<'_>, output: &[Object], refusals: &mut Refusals<'_>) {
    for new in output {
        let Some(old) = context.deployed.named(new) else { continue };
        if has_other_selector(old, new) {
            let scaled = autoscalers(context.deployed.stable.iter().copied(), old.name());
            let why = match scaled.first() {
                Some(autoscaler) => {
                    format!(", which has to name the version because {autoscaler} scales it")
                }
                None => String::new(),
            };
            let message =
                format!("expected the selector that is deployed, found another one{why}: it is immutable");
            refusals.add(Check::SelectorUnchanged, old, message);
        }
    }
}

/// The same of what is shared: it is the new render's when the promotion is finished.
pub(super) fn check_later_selectors(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    for new in context.candidate.iter().filter(|object| !context.names.is_twin(object)) {
        let Some(old) = context.deployed.counterpart(new) else { continue };
        if !context.deployed.is_same(new, context.deployment) && has_other_selector(old, new) {
            let message = "expected the selector that is deployed, found another one: it is immutable, so the end of the promotion \
                           would fail";
            refusals.add(Check::SelectorUnchanged, old, message);
        }
    }
}

fn has_other_selector(old: &Object, new: &Object) -> bool {
    let selector = |object: &Object| object.value().pointer("/spec/selector").cloned();
    ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"].contains(&new.kind())
        && selector(old) != selector(new)
}

/// No user is on the canary when it comes, and all of stable's sessions are in pods that another template would end.
pub(super) fn check_stable_pods(context: &CheckContext<'_>, output: &[Object], refusals: &mut Refusals<'_>) {
    let Some(old) = context.deployed.counterpart(context.deployment) else { return };
    let new = output.iter().find(|new| new.key("") == old.key(""));
    let Some(change) = new.and_then(|new| pod_change(old, new, &context.rules.version_label)) else { return };
    let message = format!(
        "expected the pods that run, found a change of `{change}` in their template, which replaces them"
    );
    refusals.add(Check::StablePodsKept, old, message);
}

/// The first field of a pod template that changes, a version label that is new left out: `twin adopt` gives running pods that.
pub(crate) fn pod_change(old: &Object, new: &Object, label: &str) -> Option<String> {
    let value_of = |object: &Object| pod_labels(object).and_then(|labels| labels.get(label)).cloned();
    let (was, is) = (value_of(old), value_of(new));
    if let (Some(was), Some(is)) = (was.as_ref().map(text), is.as_ref().map(text))
        && was != is
    {
        return Some(format!("spec.template.metadata.labels.{label}` from `{was}` to `{is}"));
    }
    let template = |object: &Object| {
        let mut template = object.value().pointer("/spec/template").cloned().unwrap_or_default();
        if let Some(Value::Object(labels)) = template.pointer_mut("/metadata/labels") {
            labels.remove(label);
        }
        template
    };
    crate::comparison::first_difference("spec.template", &template(old), &template(new))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A promotion restarts nothing, and neither does its end.
pub(super) fn check_finish(context: &CheckContext<'_>, output: &[Object], refusals: &mut Refusals<'_>) {
    let version = context.rules.phase.rendered_version();
    for new in output.iter().filter(|one| one.kind() == "Deployment" && one.is_twin()) {
        let Some(old) = context.deployed.named(new) else { continue };
        if old.annotation(VERSION) == Some(version) {
            let found = crate::differences(old, new);
            let pods = found.iter().find(|one| one.field.starts_with("spec.template"));
            if let Some(difference) = pods {
                let message = format!("expected the pods that run, found a change of `{}`", difference.field);
                refusals.add(Check::FinishKeepsPods, new, message);
            }
        }
    }
}
