//! When a version is ready, and why it is not.

use super::*;
use serde_json::json;

fn deployment(ready: u64) -> Value {
    json!({"metadata": {"name": "shop-v2", "generation": 3}, "spec": {"replicas": 2},
        "status": {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "readyReplicas": ready, "availableReplicas": ready}})
}

fn pod(container: &Value) -> Value {
    json!({"metadata": {"name": "shop-v2-a"}, "status": {"phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [container]}})
}

fn waits_for(word: &str, restarts: u64) -> Value {
    json!({"name": "shop", "ready": false, "restartCount": restarts,
        "state": {"waiting": {"reason": word, "message": "back-off"}}, "lastState": {"terminated": {"exitCode": 7}}})
}

fn reasons(deployments: &[Value], pods: &[Value]) -> Vec<String> {
    match VersionReadiness::of(deployments, pods) {
        VersionReadiness::Waiting { reasons, .. } => reasons,
        other => panic!("{other:?}"),
    }
}

/// Owners of pods: kind and name of the workload, the owner of its pods, and its status when both pods are ready.
#[test]
fn pods_of_any_owner_are_waited_for() {
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let unready = json!({"status": {"conditions": [], "phase": "Pending"}});
    let full = json!({"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2});
    let everywhere = json!({"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2});
    for (kind, owner, status) in [
        ("Deployment", json!({"kind": "ReplicaSet", "name": "shop-v2-abc"}), &full),
        ("StatefulSet", json!({"kind": "StatefulSet", "name": "shop-v2"}), &full),
        ("DaemonSet", json!({"kind": "DaemonSet", "name": "shop-v2"}), &everywhere),
        ("", json!({"kind": "CloneSet", "name": "shop-v2"}), &full),
        ("", json!(null), &full),
    ] {
        let pod = |state: &Value| {
            let mut pod = state.clone();
            pod["metadata"] = json!({"name": "p", "ownerReferences": [owner]});
            pod
        };
        let workload =
            json!({"kind": kind, "metadata": {"name": "shop-v2"}, "spec": {"replicas": 2}, "status": status});
        let workloads = if kind.is_empty() { vec![] } else { vec![workload] };
        let found = VersionReadiness::of(&workloads, &[pod(&ready), pod(&ready)]);
        assert_eq!(found, VersionReadiness::Ready { pods: 2 }, "{kind} {owner}");
        let mut late = workloads.clone();
        for workload in &mut late {
            workload["status"] = json!({"desiredNumberScheduled": 2});
        }
        let found = VersionReadiness::of(&late, &[pod(&ready), pod(&unready)]);
        assert!(matches!(found, VersionReadiness::Waiting { wanted: 2, .. }), "{kind} {owner}: {found:?}");
    }
    let none = VersionReadiness::of(&[], &[]);
    assert!(matches!(none, VersionReadiness::Waiting { .. }), "{none:?}");
}

#[test]
fn a_version_is_ready_when_every_deployment_of_it_is_complete_and_observed() {
    let ready = VersionReadiness::of(&[deployment(2), deployment(2)], &[]);
    assert_eq!(ready, VersionReadiness::Ready { pods: 4 });
    let mut unobserved = deployment(2);
    unobserved["status"]["observedGeneration"] = json!(2);
    let mut replacing = deployment(2);
    replacing["status"]["replicas"] = json!(3);
    let mut fresh = deployment(0);
    fresh["status"] = json!({});
    for other in [deployment(1), unobserved, replacing, fresh] {
        let found = VersionReadiness::of(&[deployment(2), other.clone()], &[]);
        assert!(matches!(found, VersionReadiness::Waiting { wanted: 4, .. }), "{other}: {found:?}");
    }
    assert!(reasons(&[], &[])[0].starts_with("no pod has the label"), "nothing is not ready");
}

#[test]
fn what_no_retry_ends_fails_at_once_and_what_may_end_is_waited_for() {
    for word in ["InvalidImageName", "ImagePullBackOff", "CreateContainerConfigError"] {
        let found = VersionReadiness::of(&[deployment(1)], &[pod(&waits_for(word, 0))]);
        let VersionReadiness::Failed(failure) = found else { panic!("{word}: {found:?}") };
        assert_eq!(
            failure.to_string(),
            format!("Pod shop-v2-a, container shop: {word}: back-off, last exit code 7")
        );
    }
    assert!(matches!(
        VersionReadiness::of(&[deployment(1)], &[pod(&waits_for("CrashLoopBackOff", 3))]),
        VersionReadiness::Failed(ReadinessFailure { has_restarted: true, .. })
    ));
    for (word, restarts) in [("CrashLoopBackOff", 2), ("ContainerCreating", 0), ("ErrImagePull", 0)] {
        let found = reasons(&[deployment(1)], &[pod(&waits_for(word, restarts))]);
        assert_eq!(found, [format!("Pod shop-v2-a: container shop: {word}: back-off")]);
    }
}

#[test]
fn an_init_container_that_cannot_start_fails_the_version() {
    let mut pod = pod(&waits_for("PodInitializing", 0));
    pod["status"]["initContainerStatuses"] = json!([waits_for("InvalidImageName", 0)]);
    assert!(matches!(VersionReadiness::of(&[deployment(0)], &[pod]), VersionReadiness::Failed(_)));
}

#[test]
fn a_deadline_fails_and_a_pod_says_more_than_its_deployment() {
    let mut late = deployment(0);
    late["status"]["conditions"] = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out"}]);
    let of = |pods: &[Value]| match VersionReadiness::of(std::slice::from_ref(&late), pods) {
        VersionReadiness::Failed(failure) => failure.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(&[]), "Deployment shop-v2: ProgressDeadlineExceeded: timed out");
    assert!(of(&[pod(&waits_for("InvalidImageName", 0))]).starts_with("Pod shop-v2-a"));
}

#[test]
fn pods_that_cannot_be_scheduled_or_made_or_that_are_not_ready_say_so() {
    let mut unscheduled = pod(&json!({"name": "shop"}));
    unscheduled["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available"}]);
    assert_eq!(
        reasons(&[deployment(1)], &[unscheduled]),
        ["Pod shop-v2-a: Unschedulable: 0/3 nodes are available"]
    );
    let running = pod(&json!({"name": "shop", "ready": false, "state": {"running": {}}}));
    assert_eq!(
        reasons(&[deployment(1)], &[running]),
        ["Pod shop-v2-a: container shop runs and is not ready"]
    );
    let mut refused = deployment(0);
    refused["status"]["conditions"] = json!([{"type": "ReplicaFailure", "status": "True",
        "reason": "FailedCreate", "message": "exceeded quota"}]);
    assert_eq!(reasons(&[refused], &[]), ["Deployment shop-v2: FailedCreate: exceeded quota"]);
}
