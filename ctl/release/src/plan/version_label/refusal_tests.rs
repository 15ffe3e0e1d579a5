//! What is refused before the first write, with the reason.

use super::LabelDirection::{Add, Remove};
use super::fixture_tests::{deployment, label, pod, replica_set, workload};
use super::{LabelDirection, LabelPlan, LabelRefusal, LabelledWorkload};
use serde_json::{Value, json};

fn refusal(workload: &LabelledWorkload, direction: LabelDirection) -> LabelRefusal {
    LabelPlan::new(workload, &label(), direction).expect_err("it is refused")
}

/// A Deployment that is rolled out, with this field.
fn with(pointer: &str, value: Value) -> LabelledWorkload {
    let mut deployment = deployment(None);
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    deployment.pointer_mut(parent).unwrap()[field] = value;
    workload(deployment, None, [None; 2])
}

#[test]
fn a_deployment_that_is_not_rolled_out_is_refused_with_the_reason() {
    let mut old = replica_set("old", None);
    old["spec"]["template"]["spec"]["containers"][0]["image"] = json!("shop:0");
    old["spec"]["replicas"] = json!(0);
    let pods = vec![pod("hash", "a", None), pod("old", "left", None)];
    let others = LabelledWorkload::new(deployment(None), vec![replica_set("hash", None), old], pods);
    for (workload, expected) in [
        (with("/spec/paused", json!(true)), "expected Deployment shop/shop not paused, found `paused: true`"),
        (
            with("/metadata/deletionTimestamp", json!("2026-11-01T00:00:00Z")),
            "expected Deployment shop/shop, found it being deleted",
        ),
        (
            with("/spec/replicas", json!(0)),
            "expected running pods of Deployment shop/shop, found `replicas: 0`",
        ),
        (
            with("/status/updatedReplicas", json!(1)),
            "expected Deployment shop/shop rolled out, found 1 of 2 pods updated and available",
        ),
        (
            with("/metadata/generation", json!(4)),
            "expected Deployment shop/shop rolled out, found 0 of 2 pods updated and available",
        ),
        (
            with("/spec/template/spec/containers/0/image", json!("shop:2")),
            "expected a ReplicaSet with the template of Deployment shop/shop, found none",
        ),
        (others, "expected pods of the current template of Deployment shop/shop, found others: left"),
    ] {
        assert_eq!(refusal(&workload, Add).to_string(), expected);
    }
}

#[test]
fn a_label_that_would_replace_pods_or_another_value_is_refused_with_the_reason() {
    let not_in = json!({"matchExpressions": [{"key": "version", "operator": "DoesNotExist"}]});
    let mut history = replica_set("history", Some("v1"));
    history["spec"]["replicas"] = json!(0);
    let same = LabelledWorkload::new(deployment(None), vec![replica_set("hash", None), history], Vec::new());
    for (workload, expected) in [
        (
            workload(deployment(Some("v9")), Some("v9"), [Some("v9"); 2]),
            "expected `version=v1` or no such label in Deployment shop/shop, found `v9`",
        ),
        (
            workload(deployment(None), None, [None, Some("v9")]),
            "expected `version=v1` or no such label in Pod shop/b, found `v9`",
        ),
        (
            with("/spec/selector", not_in),
            "expected a selector of Deployment shop/shop that matches its pods with `version=v1`, found \
             {\"matchExpressions\":[{\"key\":\"version\",\"operator\":\"DoesNotExist\"}]}",
        ),
        (
            same,
            "expected one ReplicaSet with the resulting template of Deployment shop/shop, found another one: ReplicaSet \
             shop/shop-history",
        ),
    ] {
        assert_eq!(refusal(&workload, Add).to_string(), expected);
    }
}

#[test]
fn a_label_of_another_owner_or_in_the_selector_is_not_removed() {
    let fields = json!({"f:spec": {"f:template": {"f:metadata": {"f:labels": {"f:version": {}}}}}});
    let entry = |manager: &str| json!({"manager": manager, "fieldsV1": fields});
    let of = |managers: &[&str]| {
        let mut deployment = deployment(Some("v1"));
        let entries: Vec<Value> = managers.iter().map(|manager| entry(manager)).collect();
        deployment["metadata"]["managedFields"] = json!(entries);
        deployment
    };
    let mut released = of(&["canary-ctl"]);
    released["metadata"]["annotations"] = json!({"canary-ctl.io/version": "v1"});
    let mut selecting = of(&["canary-ctl"]);
    selecting["spec"]["selector"]["matchLabels"]["version"] = json!("v1");
    let foreign = |found: &str| {
        format!("expected the label `version` of Deployment shop/shop to be ours, found {found}")
    };
    for (deployment, expected) in [
        (of(&["helm"]), foreign("the field manager `helm`")),
        (of(&["canary-ctl", "helm"]), foreign("the field manager `helm`")),
        (of(&[]), foreign("no field manager of ours")),
        (released, foreign("the annotation `canary-ctl.io/version`: it is deployed with the label")),
        (
            selecting,
            "expected a selector of Deployment shop/shop that matches its pods with no `version`, found \
             {\"matchLabels\":{\"app\":\"shop\",\"version\":\"v1\"}}"
                .to_owned(),
        ),
    ] {
        let workload = workload(deployment, Some("v1"), [Some("v1"); 2]);
        assert_eq!(refusal(&workload, Remove).to_string(), expected);
    }
}
