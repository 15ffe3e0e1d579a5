//! The template that the pods of a running Deployment had when they got the version label.
//!
//! It needs no record of its own: the label in the template of a `ReplicaSet` is written by us at the adoption, and by the controller of the
//! Deployment in every later one, and the API server says who has written a field. It is kept as long as Kubernetes keeps that
//! `ReplicaSet` (`revisionHistoryLimit`).

use crate::manifest::RUNTIME_LABEL;
use crate::object::Owners;
use serde_json::Value;

/// The label that the controller of a Deployment adds to the templates of its `ReplicaSets`.
const TEMPLATE_HASH: &str = "pod-template-hash";
/// The annotation that `kubectl rollout restart` writes.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// Whether the version label in the template of a workload is one that we have written.
pub(super) fn is_adopted(workload: &Value, label: &str) -> bool {
    let ours = Owners::of(workload).ours(workload);
    ours.pointer("/spec/template/metadata/labels").is_some_and(|labels| labels.get(label).is_some())
}

/// Whether two workloads make other pods. A restart makes the same.
pub(super) fn makes_other_pods(before: &Value, now: &Value) -> bool {
    template(before) != template(now)
}

fn template(workload: &Value) -> Value {
    let mut template = workload.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut) {
        for (field, names) in
            [("labels", [TEMPLATE_HASH, RUNTIME_LABEL].as_slice()), ("annotations", &[RESTARTED_AT])]
        {
            let Some(values) = metadata.get_mut(field).and_then(Value::as_object_mut) else { continue };
            values.retain(|name, _| !names.contains(&name.as_str()));
            if values.is_empty() {
                metadata.remove(field);
            }
        }
    }
    template
}
