//! From an observed Deployment, its `ReplicaSets` and pods to the steps that are left.

use super::LabelDirection::{Add, Remove};
use super::fixture_tests::{adopted, deployment, label, paused, pod, replica_set, workload};
use super::{
    LabelAction, LabelDirection, LabelNote, LabelPlan, LabelStep, LabelWrite, LabelledWorkload, VersionLabel,
};
use serde_json::{Value, json};

fn plan(workload: &LabelledWorkload, direction: LabelDirection) -> Vec<String> {
    let plan = LabelPlan::new(workload, &label(), direction).unwrap();
    plan.steps.iter().map(said).collect()
}

fn said(step: &LabelStep) -> String {
    match step {
        LabelStep::Write(write) => format!("{:?} {} {}", write.action, write.object.kind, write.object.name),
        LabelStep::AwaitReplicaSet(object) | LabelStep::AwaitDeployment(object) => {
            format!("await {}", object.name)
        }
    }
}

#[test]
fn an_adoption_writes_the_template_of_the_deployment_last_and_the_way_back_first() {
    let running = workload(deployment(None), None, [None; 2]);
    let expected = [
        "Pause Deployment shop",
        "Label ReplicaSet shop-hash",
        "await shop-hash",
        "Label Pod a",
        "Label Pod b",
        "Label Deployment shop",
        "await shop",
        "Resume Deployment shop",
    ];
    assert_eq!(plan(&running, Add), expected);
    let expected = [
        "Pause Deployment shop",
        "Unlabel Deployment shop",
        "Unlabel ReplicaSet shop-hash",
        "await shop-hash",
        "Unlabel Pod a",
        "Unlabel Pod b",
        "await shop",
        "Resume Deployment shop",
    ];
    assert_eq!(plan(&workload(adopted(), Some("v1"), [Some("v1"); 2]), Remove), expected);
}

#[test]
fn nothing_is_left_to_do_where_all_have_the_label_or_none_has() {
    assert_eq!(plan(&workload(adopted(), Some("v1"), [Some("v1"); 2]), Add), [""; 0]);
    assert_eq!(plan(&workload(deployment(None), None, [None; 2]), Remove), [""; 0]);
}

#[test]
fn a_patch_names_the_version_of_its_object_and_one_label() {
    let running = workload(deployment(None), None, [None; 2]);
    let patch = |direction, action, kind: &str| {
        let running =
            if direction == Add { running.clone() } else { workload(adopted(), Some("v1"), [Some("v1"); 2]) };
        let plan = LabelPlan::new(&running, &label(), direction).unwrap();
        let is_it = |write: &&LabelWrite| write.action == action && write.object.kind == kind;
        plan.writes().find(is_it).unwrap().patch.clone()
    };
    let of = |metadata: Value, spec: Value| json!({"metadata": metadata, "spec": spec});
    let template = |labels: Value| json!({"template": {"metadata": {"labels": labels}}});
    let label = json!({"version": "v1"});
    for (found, expected) in [
        (
            patch(Add, LabelAction::Pause, "Deployment"),
            of(json!({"resourceVersion": "30"}), json!({"paused": true})),
        ),
        (
            patch(Add, LabelAction::Resume, "Deployment"),
            of(json!({"resourceVersion": "30"}), json!({"paused": null})),
        ),
        (
            patch(Add, LabelAction::Label, "Deployment"),
            of(json!({"resourceVersion": "30"}), template(label.clone())),
        ),
        (
            patch(Add, LabelAction::Label, "ReplicaSet"),
            of(json!({"labels": label, "resourceVersion": "20"}), template(label.clone())),
        ),
        (
            patch(Add, LabelAction::Label, "Pod"),
            json!({"metadata": {"labels": label, "resourceVersion": "10"}}),
        ),
        (
            patch(Remove, LabelAction::Unlabel, "Pod"),
            json!({"metadata": {"labels": {"version": null}, "resourceVersion": "10"}}),
        ),
        (
            patch(Remove, LabelAction::Unlabel, "Deployment"),
            of(json!({"resourceVersion": "30"}), template(json!({"version": null}))),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_paused_deployment_of_ours_is_finished_in_either_direction_from_wherever_it_is() {
    let none = || paused(deployment(None));
    let both = || paused(deployment(Some("v1")));
    let half = || {
        let mut half = both();
        half["status"]["updatedReplicas"] = json!(0);
        half
    };
    let unlabel = "Unlabel ReplicaSet shop-hash, await shop-hash, Unlabel Pod a, Unlabel Pod b, await shop";
    let all_back = &format!("Unlabel Deployment shop, {unlabel}, Resume Deployment shop");
    for (workload, forward, back) in [
        (
            workload(none(), None, [None; 2]),
            "Label ReplicaSet shop-hash, await shop-hash, Label Pod a, Label Pod b, Label Deployment shop, await shop, \
             Resume Deployment shop",
            "Resume Deployment shop",
        ),
        (
            workload(none(), Some("v1"), [Some("v1"), None]),
            "Label Pod b, Label Deployment shop, await shop, Resume Deployment shop",
            "Unlabel ReplicaSet shop-hash, await shop-hash, Unlabel Pod a, await shop, Resume Deployment shop",
        ),
        (
            workload(none(), Some("v1"), [Some("v1"); 2]),
            "Label Deployment shop, await shop, Resume Deployment shop",
            &format!("{unlabel}, Resume Deployment shop"),
        ),
        (workload(half(), Some("v1"), [Some("v1"); 2]), "await shop, Resume Deployment shop", all_back),
        (workload(both(), Some("v1"), [Some("v1"); 2]), "Resume Deployment shop", all_back),
    ] {
        assert_eq!(plan(&workload, Add).join(", "), forward);
        assert_eq!(plan(&workload, Remove).join(", "), back);
    }
}

#[test]
fn a_deployment_is_settled_when_its_controller_counts_all_pods_as_those_of_its_template() {
    let status = |observed: u64, all: u64, updated: u64| {
        let mut deployment = deployment(Some("v1"));
        deployment["status"] =
            json!({"observedGeneration": observed, "replicas": all, "updatedReplicas": updated});
        workload(deployment, Some("v1"), [Some("v1"); 2]).is_settled()
    };
    assert!(status(3, 2, 2));
    assert!(status(3, 3, 3), "an autoscaler has added one");
    assert!(!status(2, 2, 2), "not observed yet");
    assert!(!status(3, 2, 0), "it knows no ReplicaSet with the template");
    assert!(!status(3, 0, 0), "it has counted no pod yet");
}

#[test]
fn what_another_client_wants_rolled_out_is_resumed_and_another_label_is_not() {
    let mut changed = paused(deployment(None));
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = json!("shop:2");
    let workload = |deployment| workload(deployment, Some("v1"), [Some("v1"); 2]);
    for direction in [Add, Remove] {
        assert_eq!(plan(&workload(changed.clone()), direction), ["Resume Deployment shop"]);
    }
    let other: VersionLabel = "track=v1".parse().unwrap();
    let refused =
        LabelPlan::new(&workload(paused(deployment(None))), &other, Remove).expect_err("it is refused");
    assert_eq!(
        refused.to_string(),
        "expected Deployment shop/shop paused for the label `track`, found it paused for another one: version"
    );
}

#[test]
fn a_pod_that_was_created_meanwhile_gets_the_label_without_a_pause() {
    assert_eq!(plan(&workload(adopted(), Some("v1"), [Some("v1"), None]), Add), ["Label Pod b"]);
}

#[test]
fn pods_of_others_and_those_that_end_are_left_alone() {
    let mut ended = pod("hash", "ended", None);
    ended["status"]["phase"] = json!("Failed");
    let mut terminating = pod("hash", "terminating", None);
    terminating["metadata"]["deletionTimestamp"] = json!("2026-11-01T00:00:00Z");
    let pods = vec![pod("hash", "a", None), pod("twin", "twin", Some("v2")), ended, terminating];
    let mut twin = replica_set("twin", Some("v2"));
    twin["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    let workload = LabelledWorkload::new(deployment(None), vec![replica_set("hash", None), twin], pods);
    let written = plan(&workload, Add);
    let pods: Vec<&String> = written.iter().filter(|step| step.contains("Pod")).collect();
    assert_eq!(pods, ["Label Pod a"]);
}

#[test]
fn terms_about_own_pods_are_a_note() {
    let with = |app: &str| {
        let mut deployment = deployment(None);
        let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}});
        let spec = json!({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 1, "podAffinityTerm": term}]}}});
        deployment["spec"]["template"]["spec"] = spec.clone();
        let mut set = replica_set("hash", None);
        set["spec"]["template"]["spec"] = spec;
        LabelledWorkload::new(deployment, vec![set], Vec::new())
    };
    let notes = |app: &str| LabelPlan::new(&with(app), &label(), Add).unwrap().notes;
    assert!(matches!(notes("shop")[..], [LabelNote::OwnTerms { .. }]));
    assert_eq!(notes("database"), []);
}
