//! A Deployment with two pods, without the label and with it.

use super::{LabelledWorkload, VersionLabel};
use serde_json::{Value, json};

pub(super) fn label() -> VersionLabel {
    "version=v1".parse().unwrap()
}

/// The labels of pods, with the version label if there is one.
pub(super) fn labels(version: Option<&str>) -> Value {
    let mut labels = json!({"app": "shop"});
    if let Some(version) = version {
        labels["version"] = json!(version);
    }
    labels
}

/// A Deployment that is rolled out.
pub(super) fn deployment(version: Option<&str>) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": "shop", "uid": "d", "generation": 3, "resourceVersion": "30"},
        "spec": {"replicas": 2, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": {"app": "shop"}},
            "template": {"metadata": {"labels": labels(version)}, "spec": {"containers": [{"image": "shop:1"}]}}},
        "status": {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2},
    })
}

pub(super) fn replica_set(name: &str, version: Option<&str>) -> Value {
    let mut made = labels(version);
    made["pod-template-hash"] = json!(name);
    let owner = json!([{"kind": "Deployment", "name": "shop", "uid": "d", "controller": true}]);
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"namespace": "shop", "name": format!("shop-{name}"), "uid": name, "generation": 2,
            "resourceVersion": "20", "creationTimestamp": "2026-11-01T00:00:00Z", "ownerReferences": owner, "labels": made},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "shop", "pod-template-hash": name}},
            "template": {"metadata": {"labels": made}, "spec": {"containers": [{"image": "shop:1"}]}}},
        "status": {"observedGeneration": 2},
    })
}

pub(super) fn pod(set: &str, name: &str, version: Option<&str>) -> Value {
    let mut made = labels(version);
    made["pod-template-hash"] = json!(set);
    let owner =
        json!([{"kind": "ReplicaSet", "name": format!("shop-{set}"), "uid": set, "controller": true}]);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "uid": name, "resourceVersion": "10", "ownerReferences": owner,
            "labels": made},
        "status": {"phase": "Running"},
    })
}

/// The fields that our pause leaves in a Deployment.
pub(super) fn paused(mut deployment: Value) -> Value {
    deployment["spec"]["paused"] = json!(true);
    let fields = json!({"f:spec": {"f:paused": {}}});
    deployment["metadata"]["managedFields"] = json!([{"manager": "canary-ctl", "fieldsV1": fields}]);
    deployment
}

/// The fields that our adoption leaves in a Deployment.
pub(super) fn adopted() -> Value {
    let mut deployment = deployment(Some("v1"));
    let fields = json!({"f:spec": {"f:template": {"f:metadata": {"f:labels": {"f:version": {}}}}}});
    deployment["metadata"]["managedFields"] = json!([{"manager": "canary-ctl", "fieldsV1": fields}]);
    deployment
}

pub(super) fn workload(deployment: Value, set: Option<&str>, pods: [Option<&str>; 2]) -> LabelledWorkload {
    let pods = ["a", "b"].iter().zip(pods).map(|(name, version)| pod("hash", name, version)).collect();
    LabelledWorkload::new(deployment, vec![replica_set("hash", set)], pods)
}
