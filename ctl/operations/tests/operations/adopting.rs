//! The version label for the pods of a running Deployment: its controllers replace no pod.

use canary_operations::{AdoptOptions, Adoption, Cluster, Error};
use canary_release::object::Reference;
use canary_release::plan::{LabelDirection, LabelNote, LabelRefusal, VersionLabel};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Two pods of a Deployment that knows no versions.
pub(crate) fn running() -> FakeApi {
    let api = FakeApi::default();
    api.state().create(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "shop", "namespace": SHOP},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "shop"}}, "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {"containers": [{"name": "shop", "image": "shop:1"}]}}}}));
    api
}

pub(crate) async fn adopt(cluster: &Cluster, direction: LabelDirection) -> Result<Adoption, Error> {
    adopt_within(Duration::from_mins(1), cluster, direction).await
}

async fn adopt_within(
    timeout: Duration,
    cluster: &Cluster,
    direction: LabelDirection,
) -> Result<Adoption, Error> {
    let options = AdoptOptions { timeout, progress: &mut |_| {} };
    Box::pin(cluster.adopt(&shop(), &label(), direction, options)).await
}

fn shop() -> Reference {
    Reference::new("apps/v1", "Deployment", SHOP, "shop")
}

fn label() -> VersionLabel {
    "version=v1".parse().unwrap()
}

/// The uids of `ReplicaSets` and pods by their names.
pub(crate) fn uids(api: &FakeApi) -> BTreeMap<String, String> {
    let state = api.state();
    let objects = state.store.of_kind("ReplicaSet").chain(state.store.of_kind("Pod"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    objects.map(|object| (text(&object["metadata"]["name"]), text(&object["metadata"]["uid"]))).collect()
}

/// The label in the templates of Deployment and `ReplicaSets`, and that of these and of the pods themselves.
pub(crate) fn labels(api: &FakeApi) -> Vec<Value> {
    let state = api.state();
    let made = ["Deployment", "ReplicaSet"].into_iter().flat_map(|kind| state.store.of_kind(kind));
    let own = ["ReplicaSet", "Pod"].into_iter().flat_map(|kind| state.store.of_kind(kind));
    made.map(|object| object["spec"]["template"]["metadata"]["labels"]["version"].clone())
        .chain(own.map(|object| object["metadata"]["labels"]["version"].clone()))
        .collect()
}

/// Fails unless the Deployment rolls out, and its templates and pods have this label.
#[track_caller]
pub(crate) fn assert_labelled(api: &FakeApi, expected: &Value, context: &str) {
    let all = labels(api);
    assert!(all.len() >= 4 && all.iter().all(|label| label == expected), "{context}: {all:?}");
    let paused = api.state().store.find("Deployment", "shop").unwrap()["spec"]["paused"].clone();
    assert_eq!(paused, Value::Null, "{context}: it is resumed");
}

#[test]
fn a_running_deployment_gets_the_label_and_loses_it_and_no_pod_is_replaced() {
    run(async {
        let api = running();
        // Its controller sees a change of a `ReplicaSet` later than one of the Deployment.
        api.state().controllers.lag(12);
        let (cluster, before) = (api.cluster().await, uids(&api));
        assert_eq!(before.len(), 3, "{before:?}");
        let adopted = adopt(&cluster, LabelDirection::Add).await.unwrap();
        assert!(adopted.keeps_replica_set() && adopted.gone_pods().is_empty(), "{adopted:?}");
        assert_eq!(adopted.writes.len(), 6, "{:?}", adopted.writes);
        assert_eq!(uids(&api), before);
        assert_labelled(&api, &json!("v1"), "adopted");
        assert_eq!(api.state().store.names(&["Lease"]), Vec::<String>::new());
        let again = adopt(&cluster, LabelDirection::Add).await.unwrap();
        assert_eq!(again.writes, [], "nothing is left to do");

        api.state().edit_as("kubectl", "Deployment", "shop", |object| object["spec"]["replicas"] = json!(3));
        assert_eq!(uids(&api).len(), 4, "a third pod");
        assert_labelled(&api, &json!("v1"), "scaled");

        let scaled = uids(&api);
        let undone = adopt(&cluster, LabelDirection::Remove).await.unwrap();
        assert!(undone.keeps_replica_set() && undone.gone_pods().is_empty(), "{undone:?}");
        assert_eq!(uids(&api), scaled);
        assert_labelled(&api, &Value::Null, "undone");
        let again = adopt(&cluster, LabelDirection::Remove).await.unwrap();
        assert_eq!(again.writes, [], "nothing is left to take back");
    });
}

/// What the test above would not see if these controllers did nothing.
#[test]
fn a_changed_template_of_a_deployment_that_is_not_paused_replaces_its_pods() {
    run(async {
        let api = running();
        let before = uids(&api);
        api.state().edit_as("kubectl", "Deployment", "shop", |object| {
            object["spec"]["template"]["metadata"]["labels"]["version"] = json!("v1");
        });
        let after = uids(&api);
        let kept: Vec<_> = before.iter().filter(|(name, uid)| after.get(*name) == Some(*uid)).collect();
        assert_eq!(
            (after.len(), kept.len()),
            (4, 1),
            "two new pods and a new ReplicaSet beside the old one: {after:?}"
        );
    });
}

#[test]
fn what_a_policy_refuses_in_between_is_taken_back() {
    run(async {
        // Created, and where it was begun also paused and resumed.
        for (path, generation) in [("/deployments/", 1), ("/replicasets/", 3), ("/pods/", 3)] {
            let api = running();
            let (cluster, before) = (api.cluster().await, uids(&api));
            api.deny_after_dry_run(path, "ask us");
            let refused = adopt(&cluster, LabelDirection::Add).await;
            assert!(matches!(refused, Err(Error::Refused { .. })), "{path}: {refused:?}");
            let found =
                api.state().store.find("Deployment", "shop").unwrap()["metadata"]["generation"].clone();
            assert_eq!(found, json!(generation), "{path}");
            assert_eq!(uids(&api), before, "{path}");
            assert_labelled(&api, &Value::Null, path);
        }
    });
}

#[test]
fn what_a_policy_refuses_at_once_pauses_nothing() {
    run(async {
        let api = running();
        api.deny("/replicasets/", "ask us");
        let before = api.state().store.find("Deployment", "shop").cloned();
        let refused = adopt(&api.cluster().await, LabelDirection::Add).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        assert_eq!(api.state().store.find("Deployment", "shop").cloned(), before);
    });
}

#[test]
fn a_deployment_whose_controllers_are_away_stays_paused_and_the_next_call_continues_either_way() {
    run(async {
        for (direction, expected) in
            [(LabelDirection::Add, json!("v1")), (LabelDirection::Remove, Value::Null)]
        {
            let api = running();
            let (cluster, before) = (api.cluster().await, uids(&api));
            api.state().controllers.stop();
            let late = adopt_within(Duration::from_millis(300), &cluster, LabelDirection::Add).await;
            assert!(matches!(late, Err(Error::StaysPaused { .. })), "{late:?}");
            api.state().start_controllers();
            adopt(&cluster, direction).await.unwrap();
            assert_eq!(uids(&api), before, "{direction:?}");
            assert_labelled(&api, &expected, "continued");
        }
    });
}

/// As by `helm upgrade` between two writes.
#[test]
fn a_template_that_another_client_changes_meanwhile_is_rolled_out_and_its_pods_get_the_label() {
    run(async {
        let api = running();
        let before = uids(&api);
        let mut is_first = true;
        api.before_write(move |state, line| {
            if line.contains("/replicasets/") && std::mem::take(&mut is_first) {
                state.edit_as("helm", "Deployment", "shop", |object| {
                    object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("shop:2");
                });
            }
        });
        let adopted = adopt(&api.cluster().await, LabelDirection::Add).await.unwrap();
        assert!(!adopted.keeps_replica_set(), "{adopted:?}");
        assert_eq!(adopted.gone_pods().len(), 2, "{adopted:?}");
        assert_ne!(uids(&api), before);
        let state = api.state();
        for pod in state.store.of_kind("Pod") {
            assert_eq!(pod["metadata"]["labels"]["version"], "v1", "{pod}");
        }
        let deployment = state.store.find("Deployment", "shop").unwrap();
        assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "shop:2");
        assert_eq!(deployment["spec"]["paused"], Value::Null);
    });
}

/// A write of another client between a read and the write that was planned from it.
#[test]
fn a_stale_write_is_planned_again() {
    run(async {
        let api = running();
        let (before, mut left) = (uids(&api), 3);
        api.before_write(move |state, line| {
            if left > 0 && line.starts_with("PATCH") && line.contains("/deployments/") {
                left -= 1;
                state.edit_as("kubectl", "Deployment", "shop", |object| {
                    object["metadata"]["annotations"]["seen"] = json!(left.to_string());
                });
            }
        });
        adopt(&api.cluster().await, LabelDirection::Add).await.unwrap();
        assert_eq!(uids(&api), before);
        assert_labelled(&api, &json!("v1"), "adopted");
    });
}

#[test]
fn a_deployment_that_somebody_else_has_paused_is_refused_and_not_resumed() {
    run(async {
        let api = running();
        api.state().edit_as("kubectl-rollout", "Deployment", "shop", |object| {
            object["spec"]["paused"] = json!(true);
        });
        let refused = adopt(&api.cluster().await, LabelDirection::Add).await;
        let Err(Error::Label(LabelRefusal::Paused { owners, .. })) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(owners, &["`kubectl-rollout`"]);
        let paused = api.state().store.find("Deployment", "shop").unwrap()["spec"]["paused"].clone();
        assert_eq!(paused, json!(true));
        assert_eq!(labels(&api).iter().filter(|label| !label.is_null()).count(), 0);
    });
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_would_be_written_and_what_scales_the_deployment() {
    run(async {
        let api = running();
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"});
        api.state().create(&json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "shop", "namespace": SHOP}, "spec": {"scaleTargetRef": target}}));
        let cluster = api.cluster().await;
        let before = api.state().store.find("Deployment", "shop").cloned();
        let planned = cluster.adoption(&shop(), &label(), LabelDirection::Add).await.unwrap();
        cluster.dry_run_adoption(&planned).await.unwrap();
        assert_eq!(planned.writes.len(), 6, "{:?}", planned.writes);
        assert!(matches!(&planned.notes[..], [LabelNote::Autoscaler { .. }]), "{:?}", planned.notes);
        assert_eq!(api.state().store.find("Deployment", "shop").cloned(), before);
        assert_eq!(labels(&api).iter().filter(|label| !label.is_null()).count(), 0);
        api.deny("/pods/", "ask us");
        let refused = cluster.dry_run_adoption(&planned).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    });
}
