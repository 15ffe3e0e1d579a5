//! The controller in front of a real API server: its chart, its watches, its Lease, grants, requests. Rollouts need proxies:
//! `wasm-tests/tests/mesh/rollouts/controller.rs`.

use crate::beside_an_api_server;
use mesh_lab::{Helm, Kubernetes};
use programs::artifact;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tokio::process::{Child, Command};
use wasm_tests::api::release_fixture::ReleaseFixture;

const DEFINITIONS: [&str; 2] = ["releases.canary-ctl.io", "releasegrants.canary-ctl.io"];

pub(crate) async fn define(api: &Kubernetes) {
    let output = Command::new(artifact::canary_ctl().unwrap())
        .args(["generate", "controller", "--image", "unused"])
        .output()
        .await
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let is_definition = |object: &&str| object.contains("kind: CustomResourceDefinition\n");
    let definitions: Vec<&str> = printed.split("---\n").filter(is_definition).collect();
    api.apply(&definitions.join("---\n")).await.unwrap();
    for name in DEFINITIONS {
        api.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", name]).await.unwrap();
    }
}

fn controller(fixture: &ReleaseFixture<'_>) -> Child {
    controller_in(fixture.api, &fixture.namespace)
}

/// A controller of one namespace.
pub(crate) fn controller_in(api: &Kubernetes, namespace: &str) -> Child {
    Command::new(artifact::canary_ctl().unwrap())
        .args(["controller", "--namespace", namespace, "--lease-namespace", namespace, "--interval", "1s"])
        .env("KUBECONFIG", api.kubeconfig("admin").unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

fn object(fixture: &ReleaseFixture<'_>) -> Value {
    let mut object: Value = serde_json::from_str(&fixture.document("shop").text()).unwrap();
    object["metadata"].as_object_mut().unwrap().remove("uid");
    object["spec"]["weight"] = json!(0);
    object["spec"]["maxStep"] = json!(100);
    object
}

async fn status(fixture: &ReleaseFixture<'_>) -> Value {
    let namespace = fixture.namespace.as_str();
    let text = fixture.api.kubectl(&["get", "crel", "shop", "-n", namespace, "-o", "json"]).await.unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["status"].clone()
}

/// Waits until the status has this, and returns it.
async fn until(fixture: &ReleaseFixture<'_>, what: &str, has: impl Fn(&Value) -> bool) -> Value {
    let seen = async || Some(status(fixture).await).filter(|status| has(status));
    match fixture.api.until(what, seen).await {
        Ok(status) => status,
        Err(error) => panic!("{error}: {:#}", status(fixture).await),
    }
}

fn message<'s>(status: &'s Value, kind: &str) -> Option<&'s str> {
    let conditions = status["conditions"].as_array()?;
    let found =
        conditions.iter().find(|condition| condition["type"] == kind && condition["status"] == "True")?;
    found["message"].as_str()
}

#[test]
fn an_object_says_what_is_missing_and_goes_on_when_it_is_granted_or_asked_for() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "controller-grants").await;
        define(api).await;
        api.apply(&object(&fixture).to_string()).await.unwrap();
        let fresh = status(&fixture).await;
        assert_eq!(fresh["observedGeneration"], -1, "kstatus waits for a controller: {fresh}");

        let first = controller(&fixture);
        until(&fixture, "a refusal", |status| {
            message(status, "Stalled").is_some_and(|message| message.contains("expected a ReleaseGrant"))
        })
        .await;
        let ingress = format!("{}-ingress", fixture.namespace);
        let grant = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "ReleaseGrant",
            "metadata": {"name": "shop", "namespace": ingress},
            "spec": {"from": [fixture.namespace], "hosts": ["*.example.com"], "modules": ["oci://registry.test/"]}});
        api.apply(&grant.to_string()).await.unwrap();
        let after = until(&fixture, "another refusal than by grants", |status| {
            message(status, "Stalled").is_some_and(|message| !message.contains("ReleaseGrant"))
        })
        .await;
        assert_eq!(after["observedGeneration"], 1, "{after:#}");

        let request = json!({"status": {"request": {"action": "rollback", "id": "1"}}}).to_string();
        let patch =
            ["patch", "crel", "shop", "-n", &fixture.namespace, "--subresource=status", "--type=merge", "-p"];
        api.kubectl(&[&patch[..], &[&request]].concat()).await.unwrap();
        let answered =
            until(&fixture, "an answer", |status| status["lastRequest"]["result"] == "Refused").await;
        assert_eq!((&answered["lastRequest"]["id"], answered.get("request")), (&json!("1"), None));

        // The Lease of a killed replica is taken over, and an edit is seen by its heir.
        let _second = controller(&fixture);
        drop(first);
        let mut edited = object(&fixture);
        edited["spec"]["hosts"] = json!(["other.example.org"]);
        api.apply(&edited.to_string()).await.unwrap();
        until(&fixture, "the heir", |status| status["observedGeneration"] == 2).await;
    });
}

#[test]
fn the_chart_is_installed_upgraded_and_deleted_by_helm_3_and_4_and_objects_stay() {
    beside_an_api_server(async |api| {
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctl/controller/chart");
        let chart = chart.to_str().unwrap();
        // The definitions are there already: another test, or another Helm, has applied them.
        let three = (Helm::Three, "chart-three", &["--take-ownership"][..]);
        let four = (Helm::Four, "chart-four", &["--take-ownership", "--force-conflicts"][..]);
        for (helm, namespace, taking) in [three, four] {
            let set = "--set=image=registry.test/canary-ctl:1";
            let at = ["--namespace", namespace, "--create-namespace"];
            for verb in [&["upgrade", "--install"][..], &["upgrade"]] {
                let line = [verb, &["canary-controller", chart, set][..], &at[..], taking].concat();
                api.helm(helm, &line).await.unwrap();
            }
            let image =
                ["get", "deployment", "canary-controller", "-n", namespace, "-o", "jsonpath={..image}"];
            assert_eq!(api.kubectl(&image).await.unwrap(), "registry.test/canary-ctl:1");
            api.helm(helm, &["uninstall", "canary-controller", "--namespace", namespace]).await.unwrap();
            for name in DEFINITIONS {
                api.kubectl(&["get", "crd", name]).await.unwrap();
            }
        }
    });
}
