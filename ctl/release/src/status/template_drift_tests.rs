//! What an upgrade without the post-renderer leaves behind, and what only looks like it.

use super::*;
use crate::file::load;
use crate::state::ReleaseState;
use serde_json::json;
use std::path::Path;

const READY: ReadyPods = ReadyPods { ready: 1, all: 1 };
const NONE: ReadyPods = ReadyPods { ready: 0, all: 0 };

/// The example, with stable `v1` and canary `v2`.
fn record() -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let release = load(&path).unwrap().release;
    Record::first(&release, ReleaseState::first(&release, "uid".to_owned()))
}

/// A workload that makes pods with this version label and image.
fn workload(kind: &str, name: &str, version: Option<&str>, image: &str) -> Value {
    let mut labels = json!({"app": "shop"});
    if let Some(version) = version {
        labels["version"] = version.into();
    }
    json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "uid": name, "annotations": {}},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "shop", "image": image}]}}}})
}

/// The same as the post-renderer leaves it.
fn rendered(mut workload: Value) -> Value {
    let version = workload["spec"]["template"]["metadata"]["labels"]["version"].clone();
    workload["metadata"]["annotations"][VERSION_ANNOTATION] = version;
    workload
}

/// The same as Helm marks it.
fn of_helm(mut workload: Value) -> Value {
    workload["metadata"]["annotations"][HELM_RELEASE] = "shop".into();
    workload
}

/// A template that the Deployment `shop` had.
fn before(revision: u64, version: Option<&str>, image: &str) -> Value {
    let mut set = workload("ReplicaSet", &format!("shop-{revision}"), version, image);
    set["metadata"]["ownerReferences"] = json!([{"uid": "shop"}]);
    set["metadata"]["annotations"][REVISION] = revision.to_string().into();
    set
}

fn deployment(name: &str, version: Option<&str>, image: &str) -> Value {
    of_helm(workload("Deployment", name, version, image))
}

fn workloads(deployments: Vec<Value>, replica_sets: Vec<Value>) -> Workloads {
    let selector = json!({"app": "shop"}).as_object().cloned().unwrap();
    Workloads { selector, deployments, replica_sets }
}

fn found(workloads: &Workloads, ready: [ReadyPods; 2]) -> Vec<String> {
    TemplateDrift::all(&record(), &ready, workloads).iter().map(ToString::to_string).collect()
}

#[test]
fn an_upgrade_that_takes_the_label_away_is_named_at_once_with_the_images_and_the_deleted_canary() {
    let sets = vec![
        rendered(before(1, Some("v1"), "shop:0")),
        rendered(before(2, Some("v1"), "shop:1")),
        before(3, None, "shop:2"),
    ];
    let upgraded = workloads(vec![deployment("shop", None, "shop:2")], sets);
    assert!(upgraded.needs_replica_sets("version"));
    // The pods of both versions are ready still.
    let expected = "Deployment shop/shop makes pods without the label `version`, expected `v1`, image `shop:2` instead of `shop:1`: they \
                    replace those of `v1` (stable), whose users get errors when the last one has ended; no Deployment makes pods of `v2`";
    assert_eq!(found(&upgraded, [READY; 2]), [expected]);
    let [drift] = &TemplateDrift::all(&record(), &[READY; 2], &upgraded)[..] else { panic!("one expected") };
    assert_eq!(drift.helm_release.as_deref(), Some("shop"));
}

#[test]
fn an_upgrade_of_a_chart_with_a_version_label_of_its_own_is_told_with_both_versions() {
    let sets = vec![rendered(before(1, Some("v1"), "shop:1")), before(2, Some("3.0"), "shop:2")];
    let upgraded = workloads(vec![deployment("shop", Some("3.0"), "shop:2")], sets);
    let [text] = &found(&upgraded, [READY; 2])[..] else { panic!("one expected") };
    assert!(text.contains("makes pods with `version: 3.0`, expected `v1`, image"), "{text}");
}

#[test]
fn an_upgrade_that_keeps_the_label_replaces_the_pods_under_it() {
    let sets = vec![rendered(before(1, Some("v1"), "shop:1")), before(2, Some("v1"), "shop:2")];
    let canary = rendered(deployment("shop-v2", Some("v2"), "shop:2"));
    let upgraded = workloads(vec![deployment("shop", Some("v1"), "shop:2"), canary], sets);
    let expected = "Deployment shop/shop has lost the annotation `canary-ctl.io/version: v1`, image `shop:2` instead of `shop:1`: users of \
                    `v1` (stable) get these pods, and those before end with their sessions";
    assert_eq!(found(&upgraded, [READY; 2]), [expected]);
}

#[test]
fn a_version_under_a_name_of_its_own_leaves_a_deployment_with_the_name_of_the_chart() {
    let upgraded = workloads(vec![deployment("shop", None, "shop:2")], vec![before(1, None, "shop:2")]);
    assert_eq!(found(&upgraded, [READY; 2]), [""; 0], "pods of both versions are ready: others make them");
    let [text] = &found(&upgraded, [NONE; 2])[..] else { panic!("one expected") };
    assert!(
        text.starts_with("Deployment shop/shop makes pods without the label `version`, expected `v1`: "),
        "{text}"
    );
    assert!(text.ends_with("; no Deployment makes pods of `v2`"), "{text}");
}

/// The same with the label in its template written by us.
fn adopted(mut workload: Value) -> Value {
    let fields = json!({"f:spec": {"f:template": {"f:metadata": {"f:labels": {"f:version": {}}}}}});
    workload["metadata"]["managedFields"] = json!([{"manager": "canary-ctl", "fieldsV1": fields}]);
    workload
}

#[test]
fn an_upgrade_before_the_first_rendered_deployment_is_compared_with_the_template_that_got_the_label() {
    let sets = || vec![adopted(before(1, Some("v1"), "shop:1")), before(2, Some("v1"), "shop:2")];
    let upgraded = workloads(vec![deployment("shop", Some("v1"), "shop:2")], sets());
    let expected = "Deployment shop/shop has another template than when its pods got the label `version: v1`, image `shop:2` instead of \
                    `shop:1`: users of `v1` (stable) get these pods, and those before end with their sessions";
    assert_eq!(found(&upgraded, [READY; 2]), [expected]);

    // Not of Helm: Argo CD and Flux leave the label to whom it belongs, too.
    let mut of_argo_cd = adopted(workload("Deployment", "shop", Some("v1"), "shop:1"));
    let image = json!("shop:2");
    of_argo_cd["spec"]["template"]["spec"]["containers"][0]["image"] = image;
    let of_argo_cd = workloads(vec![of_argo_cd], sets());
    assert!(of_argo_cd.needs_replica_sets("version"));
    assert_eq!(found(&of_argo_cd, [READY; 2]), [expected]);

    let back = workloads(vec![deployment("shop", Some("v1"), "shop:1")], sets());
    assert_eq!(found(&back, [READY; 2]), [""; 0], "rolled back");
    let rendered = workloads(vec![rendered(deployment("shop", Some("v1"), "shop:2"))], sets());
    assert_eq!(found(&rendered, [READY; 2]), [""; 0], "deployed through the post-renderer: it is meant");
}

#[test]
fn pods_that_have_got_the_label_and_are_restarted_or_get_a_version_by_hand_are_no_drift() {
    let sets = || vec![adopted(before(1, Some("v1"), "shop:1"))];
    let mut restarted = deployment("shop", Some("v1"), "shop:1");
    let metadata = &mut restarted["spec"]["template"]["metadata"];
    metadata["annotations"] = json!({"kubectl.kubernetes.io/restartedAt": "2026-11-25T00:00:00Z"});
    metadata["labels"]["canary-ctl.io/wasm-runtime"] = "v8".into();
    assert_eq!(found(&workloads(vec![restarted], sets()), [READY; 2]), [""; 0]);
    let by_hand = workloads(vec![deployment("shop", Some("v3"), "shop:3")], sets());
    assert_eq!(found(&by_hand, [READY; 2]), [""; 0]);
    let kept =
        workloads(vec![deployment("shop", Some("v1"), "shop:2")], vec![before(1, Some("v1"), "shop:1")]);
    assert_eq!(found(&kept, [READY; 2]), [""; 0], "the chart has always had the label");
}

#[test]
fn twins_other_workloads_and_deployments_that_nobody_rendered_are_no_drift() {
    let twins =
        ["v1", "v2"].map(|version| rendered(deployment(&format!("shop-{version}"), Some(version), "shop:1")));
    let with_twins = workloads(twins.to_vec(), Vec::new());
    assert!(!with_twins.needs_replica_sets("version"), "one request less");
    assert_eq!(found(&with_twins, [NONE; 2]), [""; 0]);

    let mut worker = deployment("worker", None, "worker:1");
    worker["spec"]["template"]["metadata"]["labels"]["app"] = "worker".into();
    assert_eq!(found(&workloads(vec![worker], Vec::new()), [NONE; 2]), [""; 0], "not behind the Service");

    let mut paused = deployment("shop", None, "shop:1");
    paused["spec"]["paused"] = true.into();
    let adopted = workloads(vec![paused], vec![before(1, Some("v1"), "shop:1")]);
    assert_eq!(found(&adopted, [READY; 2]), [""; 0], "the label of a running Deployment is half written");

    // By hand: each release gives one of two Deployments the next version.
    let sets = vec![before(1, Some("v1"), "shop:1"), before(2, Some("v3"), "shop:3")];
    let by_hand = workloads(vec![deployment("shop", Some("v3"), "shop:3")], sets);
    assert_eq!(found(&by_hand, [READY; 2]), [""; 0]);
}
