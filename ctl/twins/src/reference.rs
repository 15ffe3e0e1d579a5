//! Which fields name another object.
//!
//! One table for pod specs and one for other kinds; custom resources are read by the form of their fields (`custom_reference`). `tests/references.rs` walks the API types of Kubernetes and fails on a typed
//! reference that is in no list.

use crate::Object;
use crate::custom_reference as custom;
use serde_json::Value;
use std::collections::BTreeSet;

/// The target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// An object of this kind.
    Kind(&'static str),
    /// An object of the kind in the field `kind` beside the name.
    KindField,
}

/// A field that names another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The field: names with dots between them, `[]` behind a list.
    pub path: &'static str,
    /// Its target.
    pub target: Target,
}

const fn to(path: &'static str, kind: &'static str) -> Reference {
    Reference { path, target: Target::Kind(kind) }
}

const fn to_any(path: &'static str) -> Reference {
    Reference { path, target: Target::KindField }
}

/// The references of a pod spec. Those to kinds that no chart renames are there for the test that the list is complete.
pub const POD_REFERENCES: &[Reference] = &[
    to("containers[].env[].valueFrom.configMapKeyRef.name", "ConfigMap"),
    to("containers[].env[].valueFrom.secretKeyRef.name", "Secret"),
    to("containers[].envFrom[].configMapRef.name", "ConfigMap"),
    to("containers[].envFrom[].secretRef.name", "Secret"),
    to("initContainers[].env[].valueFrom.configMapKeyRef.name", "ConfigMap"),
    to("initContainers[].env[].valueFrom.secretKeyRef.name", "Secret"),
    to("initContainers[].envFrom[].configMapRef.name", "ConfigMap"),
    to("initContainers[].envFrom[].secretRef.name", "Secret"),
    to("ephemeralContainers[].env[].valueFrom.configMapKeyRef.name", "ConfigMap"),
    to("ephemeralContainers[].env[].valueFrom.secretKeyRef.name", "Secret"),
    to("ephemeralContainers[].envFrom[].configMapRef.name", "ConfigMap"),
    to("ephemeralContainers[].envFrom[].secretRef.name", "Secret"),
    to("volumes[].configMap.name", "ConfigMap"),
    to("volumes[].secret.secretName", "Secret"),
    to("volumes[].projected.sources[].configMap.name", "ConfigMap"),
    to("volumes[].projected.sources[].secret.name", "Secret"),
    to("volumes[].persistentVolumeClaim.claimName", "PersistentVolumeClaim"),
    to("volumes[].azureFile.secretName", "Secret"),
    to("volumes[].cephfs.secretRef.name", "Secret"),
    to("volumes[].cinder.secretRef.name", "Secret"),
    to("volumes[].csi.nodePublishSecretRef.name", "Secret"),
    to("volumes[].flexVolume.secretRef.name", "Secret"),
    to("volumes[].iscsi.secretRef.name", "Secret"),
    to("volumes[].rbd.secretRef.name", "Secret"),
    to("volumes[].scaleIO.secretRef.name", "Secret"),
    to("volumes[].storageos.secretRef.name", "Secret"),
    to("imagePullSecrets[].name", "Secret"),
    to("serviceAccountName", "ServiceAccount"),
    to("serviceAccount", "ServiceAccount"),
    to("priorityClassName", "PriorityClass"),
    to("runtimeClassName", "RuntimeClass"),
    to("resourceClaims[].resourceClaimName", "ResourceClaim"),
    to("resourceClaims[].resourceClaimTemplateName", "ResourceClaimTemplate"),
    to("volumes[].ephemeral.volumeClaimTemplate.spec.storageClassName", "StorageClass"),
    to("volumes[].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName", "VolumeAttributesClass"),
    to("volumes[].ephemeral.volumeClaimTemplate.spec.volumeName", "PersistentVolume"),
    to_any("volumes[].ephemeral.volumeClaimTemplate.spec.dataSource.name"),
    to_any("volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef.name"),
];

/// The references of other kinds to what is twinned: configuration, workloads and their autoscalers.
pub const OBJECT_REFERENCES: &[(&str, &[Reference])] = &[
    ("Certificate", &[to("spec.secretName", "Secret")]),
    (
        "Gateway",
        &[
            to("spec.servers[].tls.credentialName", "Secret"),
            to("spec.listeners[].tls.certificateRefs[].name", "Secret"),
        ],
    ),
    (
        "HorizontalPodAutoscaler",
        &[to_any("spec.scaleTargetRef.name"), to_any("spec.metrics[].object.describedObject.name")],
    ),
    (
        "Ingress",
        &[
            to("spec.tls[].secretName", "Secret"),
            to_any("spec.defaultBackend.resource.name"),
            to_any("spec.rules[].http.paths[].backend.resource.name"),
        ],
    ),
    ("ScaledObject", &[to_any("spec.scaleTargetRef.name")]),
    ("ServiceAccount", &[to("secrets[].name", "Secret"), to("imagePullSecrets[].name", "Secret")]),
    ("TriggerAuthentication", &[to("spec.secretTargetRef[].name", "Secret")]),
    ("VerticalPodAutoscaler", &[to_any("spec.targetRef.name")]),
];

/// The path of a kind's pod spec; `None` for a kind without one.
pub(crate) fn pod_spec_path(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "Pod" => &["spec"],
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController" | "Job" => {
            &["spec", "template", "spec"]
        }
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        "PodTemplate" => &["template", "spec"],
        _ => return None,
    })
}

/// The pod spec of a workload.
pub(crate) fn pod_spec(object: &Object) -> Option<&Value> {
    pod_spec_path(object.kind())?.iter().try_fold(object.value(), |value, field| value.get(field))
}

/// The kinds and names that an object refers to.
pub(crate) fn references(object: &Object) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    if has_references(object.kind()) {
        let mut copy = object.clone();
        visit(&mut copy, None, &mut |kind, name| {
            found.insert((kind.to_owned(), name.clone()));
        });
    }
    found
}

/// Whether objects of a kind can refer to others: all but those that are texts alone, or a schema.
fn has_references(kind: &str) -> bool {
    !["ConfigMap", "Secret", "CustomResourceDefinition"].contains(&kind)
}

/// Calls `edit` with the kind and the name of each reference of an object to one of this namespace, RBAC's `resourceNames` left out.
pub(crate) fn rewrite(object: &mut Object, namespace: &str, edit: &mut dyn FnMut(&str, &mut String)) {
    if has_references(object.kind()) {
        visit(object, Some(namespace), edit);
    }
}

fn visit(object: &mut Object, namespace: Option<&str>, edit: &mut dyn FnMut(&str, &mut String)) {
    let kind = object.kind().to_owned();
    if let Some(path) = pod_spec_path(&kind) {
        let spec = path.iter().try_fold(object.value_mut(), |value, field| value.get_mut(field));
        if let Some(spec) = spec {
            apply(POD_REFERENCES, spec, edit);
        }
        return;
    }
    for (_, references) in OBJECT_REFERENCES.iter().filter(|(name, _)| *name == kind) {
        apply(references, object.value_mut(), edit);
    }
    custom::visit(object.value_mut(), namespace, edit);
}

fn apply(references: &[Reference], value: &mut Value, edit: &mut dyn FnMut(&str, &mut String)) {
    for reference in references {
        let path: Vec<&str> = reference.path.split('.').collect();
        if let Some((name, parents)) = path.split_last() {
            walk(value, parents, &mut |parent| {
                let kind = match reference.target {
                    Target::Kind(kind) => kind.to_owned(),
                    Target::KindField => default_kind(parent),
                };
                if let Some(Value::String(name)) = parent.get_mut(*name) {
                    edit(&kind, name);
                }
            });
        }
    }
}

/// The kind beside a name; KEDA's `scaleTargetRef` without one means a Deployment.
fn default_kind(parent: &Value) -> String {
    parent.get("kind").and_then(Value::as_str).unwrap_or("Deployment").to_owned()
}

/// Calls `visit` with each value at a path; `name[]` leads to the items of a list.
fn walk(value: &mut Value, path: &[&str], visit: &mut dyn FnMut(&mut Value)) {
    let Some((first, rest)) = path.split_first() else {
        return visit(value);
    };
    match first.strip_suffix("[]") {
        Some(list) => {
            let items = value.get_mut(list).and_then(Value::as_array_mut);
            items.into_iter().flatten().for_each(|item| walk(item, rest, visit));
        }
        None => {
            if let Some(next) = value.get_mut(*first) {
                walk(next, rest, visit);
            }
        }
    }
}

/// The resources that `resourceNames` of an RBAC rule names, as kinds.
pub(crate) fn kind_of_resource(resource: &str) -> &str {
    match resource.split_once('/').map_or(resource, |(resource, _)| resource) {
        "configmaps" => "ConfigMap",
        "secrets" => "Secret",
        "deployments" => "Deployment",
        "horizontalpodautoscalers" => "HorizontalPodAutoscaler",
        _ => "",
    }
}

/// Calls `edit` with the `resourceNames` of each rule of a Role or ClusterRole, and the kinds of the rule's resources.
pub(crate) fn rewrite_resource_names(object: &mut Object, edit: &mut dyn FnMut(&[&str], &mut Vec<Value>)) {
    if !["Role", "ClusterRole"].contains(&object.kind()) {
        return;
    }
    walk(object.value_mut(), &["rules[]"], &mut |rule| {
        let resources = rule.get("resources").and_then(Value::as_array).cloned().unwrap_or_default();
        let kinds: Vec<&str> = resources.iter().filter_map(Value::as_str).map(kind_of_resource).collect();
        if let Some(Value::Array(names)) = rule.get_mut("resourceNames") {
            edit(&kinds, names);
        }
    });
}
