//! The objects of Flagger and Argo Rollouts that an import reads.

use canary_operations::PeerObjects;
use canary_release::import::Peer;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{run, shop};
use serde_json::{Value, json};

const FLAGGER: &str = "flagger.app/v1beta1";
const ARGO: &str = "argoproj.io/v1alpha1";

fn create(api: &FakeApi, api_version: &str, kind: &str, name: &str, spec: &Value) {
    api.state().create(&json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": "shop"}, "spec": spec}));
}

fn names(objects: &PeerObjects) -> Vec<String> {
    let PeerObjects::Found(objects) = objects else { panic!("expected objects, found {objects:?}") };
    let name = |object: &Value| {
        format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap())
    };
    objects.iter().map(name).collect()
}

#[test]
fn a_canary_comes_with_the_objects_that_it_names_and_with_no_other() {
    run(async {
        let api = shop();
        create(&api, FLAGGER, "MetricTemplate", "errors", &json!({}));
        create(&api, FLAGGER, "MetricTemplate", "other", &json!({}));
        create(&api, FLAGGER, "AlertProvider", "team", &json!({}));
        let analysis = json!({
            "metrics": [{"name": "a", "templateRef": {"name": "errors"}}, {"name": "b", "templateRef": {"name": "none"}}],
            "alerts": [{"name": "c", "providerRef": {"name": "team", "namespace": "shop"}}],
        });
        create(
            &api,
            FLAGGER,
            "Canary",
            "web",
            &json!({"service": {"gateways": ["mesh"]}, "analysis": analysis}),
        );
        let cluster = api.cluster().await;
        let found = cluster.peer_objects(Peer::Flagger, "shop", "web").await.unwrap();
        assert_eq!(names(&found), ["Canary web", "MetricTemplate errors", "AlertProvider team"]);
        let none = cluster.peer_objects(Peer::Flagger, "shop", "nothing").await.unwrap();
        assert_eq!(none, PeerObjects::NoObject);
    });
}

#[test]
fn a_rollout_comes_with_templates_services_and_routes_of_its_namespace() {
    run(async {
        let api = shop();
        create(&api, ARGO, "Rollout", "web", &json!({}));
        create(&api, ARGO, "AnalysisTemplate", "errors", &json!({}));
        let cluster = api.cluster().await;
        let found = names(&cluster.peer_objects(Peer::Argo, "shop", "web").await.unwrap());
        assert_eq!(found.first().map(String::as_str), Some("Rollout web"));
        for name in ["AnalysisTemplate errors", "Service shop"] {
            assert!(found.iter().any(|found| found == name), "expected {name}, found {found:?}");
        }
    });
}

#[test]
fn a_kind_that_is_not_installed_is_told_apart_from_an_object_that_is_not_there() {
    run(async {
        let api = shop();
        api.state().store.uninstalled.push("rollouts");
        let found = api.cluster().await.peer_objects(Peer::Argo, "shop", "web").await.unwrap();
        assert_eq!(found, PeerObjects::NoKind);
    });
}
