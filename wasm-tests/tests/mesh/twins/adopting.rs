//! `twin adopt` with the real controllers of Kubernetes: no pod is replaced, no request fails, and later pods have the label.

use crate::support::in_the_mesh;
use crate::support::kill::killed_after_objects;
use crate::support::rbac::printed;
use crate::support::release_fixture::ReleaseFixture;
use browser::User;
use browser::load::LoadProfile;
use canary_operations::{Access, AdoptOptions, Adoption, Cluster, Error, WriteOptions};
use canary_release::object::Reference;
use canary_release::plan::{LabelDirection, VersionLabel};
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use wasm_tests::scenario::Crowd;

/// It has the rights that `generate rbac --adopt` prints.
const USER: &str = "restricted-adopter";

/// As many as keep requests in flight at every moment.
const USERS: usize = 8;

#[test]
fn pods_of_a_running_deployment_get_the_label_and_lose_it_and_none_is_replaced() {
    in_the_mesh(async |lab| {
        let fixture = ReleaseFixture::new(lab, "adopting").await;
        let file = fixture.file("shop");
        lab.apply(&running(&fixture.namespace)).await.unwrap();
        lab.rolled_out(&fixture.namespace, "shop").await.unwrap();
        let before = objects(lab, &fixture.namespace).await;
        assert_eq!(before.len(), 4, "a Deployment, a ReplicaSet and two pods: {before:?}");
        // The Deployment belongs to its owner alone, and nobody but admins may write it.
        let denied = fixture.run(USER, &file, &["twin", "adopt", "shop"]).await;
        assert_eq!(denied.code, 2, "{}", denied.stderr);
        printed(&fixture, USER, &file, &["--adopt"]).await;
        let ask = ["auth", "can-i", "patch", "pods", "-n", &fixture.namespace];
        let may = async || lab.kubectl_as(USER, &ask, "").await.ok();
        lab.until("the API server goes by the roles", may).await.unwrap();
        let dry = fixture.run(USER, &file, &["twin", "adopt", "shop", "--dry-run=server"]).await;
        assert_eq!(dry.code, 0, "{}", dry.stderr);
        assert_eq!(objects(lab, &fixture.namespace).await, before, "a dry run writes nothing");

        let address = lab.service(&fixture.namespace, "shop", 80).await.unwrap();
        let users = (0..USERS).map(|_| User::http1(address, "shop")).collect();
        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/", 5) });
        let adopted = fixture.run(USER, &file, &["twin", "adopt", "shop"]).await;
        assert_eq!(adopted.code, 0, "{}", adopted.stderr);
        assert!(adopted.stderr.contains("and its pods (2) are those of before"), "{}", adopted.stderr);
        let labelled = objects(lab, &fixture.namespace).await;
        assert_eq!(uids(&labelled), uids(&before), "adopted");
        assert_labels(&labelled, &json!("v1"));

        lab.scale(&fixture.namespace, "shop", 3).await.unwrap();
        lab.rolled_out(&fixture.namespace, "shop").await.unwrap();
        let scaled = objects(lab, &fixture.namespace).await;
        assert_eq!(scaled.len(), 5, "a third pod: {scaled:?}");
        assert!(uids(&before).iter().all(|(name, uid)| uids(&scaled).get(name) == Some(uid)), "scaled");
        assert_labels(&scaled, &json!("v1"));

        let undone = fixture.run(USER, &file, &["twin", "adopt", "shop", "--undo"]).await;
        assert_eq!(undone.code, 0, "{}", undone.stderr);
        let taken_back = objects(lab, &fixture.namespace).await;
        assert_eq!(uids(&taken_back), uids(&scaled), "taken back");
        assert_labels(&taken_back, &Value::Null);
        let (_, report) = crowd.stop().await.expect("they come back");
        println!("{} requests while the label came and went", report.records.len());
        assert!(report.failures().is_empty(), "{:?}", report.failures().first());
        assert!(report.records.len() > 100, "{} requests", report.records.len());
    });
}

/// With the real controllers; the tests of `canary-operations` do it in both directions, with a fake API.
#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_adoption_that_is_killed_after_any_write_is_continued_and_no_pod_is_replaced() {
    in_the_mesh(async |lab| {
        let fixture = ReleaseFixture::new(lab, "adopting-killed").await;
        lab.apply(&running(&fixture.namespace)).await.unwrap();
        lab.rolled_out(&fixture.namespace, "shop").await.unwrap();
        let before = objects(lab, &fixture.namespace).await;
        let address = lab.service(&fixture.namespace, "shop", 80).await.unwrap();
        let answered = async || User::http1(address, "shop").navigate("/").await.ok();
        lab.until("the way to the shop", answered).await.unwrap();
        let users = (0..USERS).map(|_| User::http1(address, "shop")).collect();
        let crowd = Crowd::start(users, LoadProfile { concurrency: 1, ..LoadProfile::navigate("/", 5) });
        let kubeconfig = Some(lab.kubeconfig("admin").unwrap());
        let access = Access { kubeconfig, ..Access::default() };
        let cluster = fixture.cluster().await;
        let mut writes = 0;
        loop {
            let (process, killed) = killed_after_objects(&access, writes, WriteOptions::default()).await;
            let ended = adopt(&process, &fixture.namespace, LabelDirection::Add).await;
            if !killed.is_killed() {
                ended.unwrap();
                break;
            }
            let after = objects(lab, &fixture.namespace).await;
            assert_eq!(uids(&after), uids(&before), "killed after {writes} writes: {ended:?}");
            adopt(&cluster, &fixture.namespace, LabelDirection::Add).await.unwrap();
            let continued = objects(lab, &fixture.namespace).await;
            assert_eq!(uids(&continued), uids(&before), "continued after {writes} writes");
            assert_labels(&continued, &json!("v1"));
            adopt(&cluster, &fixture.namespace, LabelDirection::Remove).await.unwrap();
            writes += 1;
        }
        let labelled = objects(lab, &fixture.namespace).await;
        assert_eq!(uids(&labelled), uids(&before), "adopted");
        assert_labels(&labelled, &json!("v1"));
        assert_eq!(writes, 6, "pause, ReplicaSet, two pods, Deployment, resume");
        let (_, report) = crowd.stop().await.expect("they come back");
        assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    });
}

async fn adopt(cluster: &Cluster, namespace: &str, direction: LabelDirection) -> Result<Adoption, Error> {
    let deployment = Reference::new("apps/v1", "Deployment", namespace, "shop");
    let label = VersionLabel::new("version", "v1").unwrap();
    let options = AdoptOptions { timeout: Duration::from_mins(1), progress: &mut |_| {} };
    cluster.adopt(&deployment, &label, direction, options).await
}

/// A shop whose chart knows no versions.
fn running(namespace: &str) -> String {
    let metadata = json!({"name": "shop", "namespace": namespace});
    let labels = json!({"app": "shop"});
    let container = json!({
        "name": "shop",
        "image": "demo-shop",
        "args": ["--listen=0.0.0.0:8080", "--version=v1", "--pod=$(POD_NAME)"],
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1},
    });
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let ports = json!([{"name": "http", "port": 80, "targetPort": 8080}]);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {"selector": labels, "ports": ports}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}});
    format!("---\n{service}\n---\n{deployment}\n")
}

/// The Deployments, `ReplicaSets` and pods of a namespace by kind and name, without what their controllers count.
async fn objects(lab: &Lab, namespace: &str) -> BTreeMap<String, Value> {
    let line = ["get", "deployments,replicasets,pods", "-n", namespace, "-o", "json"];
    let list: Value = serde_json::from_str(&lab.kubectl(&line).await.unwrap()).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    let named = |object: &Value| {
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        let mut object = object.clone();
        object["status"] = Value::Null;
        object["metadata"]["resourceVersion"] = Value::Null;
        (name, object)
    };
    items.map(named).collect()
}

/// By kind and name; a `ReplicaSet` or a pod that is replaced has another one.
fn uids(objects: &BTreeMap<String, Value>) -> BTreeMap<&str, &Value> {
    objects.iter().map(|(name, object)| (name.as_str(), &object["metadata"]["uid"])).collect()
}

/// Fails unless all templates and pods have this label, the hash of the template is that of its `ReplicaSet`'s name, and
/// nothing is paused.
#[track_caller]
fn assert_labels(objects: &BTreeMap<String, Value>, expected: &Value) {
    for (name, object) in objects {
        assert_eq!(object["spec"]["paused"], Value::Null, "{name}");
        if object["kind"] != "Pod" {
            let labels = &object["spec"]["template"]["metadata"]["labels"];
            assert_eq!(labels["version"], *expected, "the template of {name}");
        }
        if object["kind"] != "Deployment" {
            let labels = &object["metadata"]["labels"];
            assert_eq!(labels["version"], *expected, "{name}");
            let hash = labels["pod-template-hash"].as_str().unwrap();
            assert!(name.contains(&format!("shop-{hash}")), "{name} has the hash {hash}");
        }
    }
}
