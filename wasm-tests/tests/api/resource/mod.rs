//! `canary.yaml` as an object of a cluster: what the API server takes, keeps and says of it.

mod agreement;
mod differences;

use crate::beside_an_api_server;
use canary_release::file;
use canary_release::resource::crd;
use canary_release::spec::Release;
use mesh_lab::Kubernetes;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const CRD: &str = "crd/releases.canary-ctl.io";

/// Defines the kind, and makes a namespace for its objects.
async fn define(api: &Kubernetes, namespace: &str) {
    api.apply(&crd().to_string()).await.unwrap();
    api.kubectl(&["wait", "--for=condition=Established", CRD, "--timeout=60s"]).await.unwrap();
    api.kubectl(&["create", "namespace", namespace]).await.unwrap();
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("canary.yaml"));
    all.filter(|path| path.exists()).collect()
}

/// The file that an object was, without the fields of the API server.
fn file_of(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("status");
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|field, _| ["name", "namespace", "labels", "annotations"].contains(&field.as_str()));
    object
}

fn read(file: &str) -> Release {
    file::parse(Path::new("canary.yaml"), file).unwrap_or_else(|error| panic!("{error}")).release
}

/// What changes with each write of an object, and with each of its specification.
async fn versions(api: &Kubernetes, what: &[&str]) -> String {
    let path = "jsonpath={.metadata.resourceVersion} {.metadata.generation}";
    api.kubectl(&[&["get", "-o", path], what].concat()).await.unwrap()
}

/// Applies a text twice in both ways: after each first time nothing changes.
async fn applied_twice(api: &Kubernetes, text: &str, what: &[&str]) {
    for way in [&["--server-side", "--force-conflicts"][..], &[]] {
        let apply = [&["apply", "-f", "-"], way].concat();
        api.kubectl_as("admin", &apply, text).await.unwrap();
        let first = versions(api, what).await;
        api.kubectl_as("admin", &apply, text).await.unwrap();
        assert_eq!(versions(api, what).await, first, "kubectl {}", apply.join(" "));
        let diff = api.kubectl_as("admin", &[&["diff", "-f", "-"], way].concat(), text).await;
        assert_eq!(diff.map_err(|error| error.to_string()), Ok(String::new()), "kubectl diff {way:?}");
    }
}

#[test]
fn the_definition_changes_nothing_when_it_is_applied_again() {
    beside_an_api_server(async |api| {
        define(api, "resource-definition").await;
        applied_twice(api, &crd().to_string(), &[CRD]).await;
    });
}

#[test]
fn each_example_of_a_cluster_is_an_object_and_read_back_as_the_same_release() {
    beside_an_api_server(async |api| {
        define(api, "shop").await;
        let (mut taken, mut local) = (0, 0);
        for path in examples() {
            let text = std::fs::read_to_string(&path).unwrap();
            let release = read(&text);
            let create = ["create", "--validate=strict", "-o", "json", "-f", "-"];
            let created = api.kubectl_as("admin", &create, &text).await;
            if release.delivery.local.is_some() {
                let refusal = created.unwrap_err().to_string();
                assert!(refusal.contains("expected a mode of a cluster, found `local`"), "{refusal}");
                local += 1;
                continue;
            }
            let created: Value = serde_json::from_str(&created.unwrap()).unwrap();
            assert_eq!(created["status"], json!({"observedGeneration": -1}));
            let object = ["releases.canary-ctl.io", release.name.name.as_str(), "-n", "shop"];
            applied_twice(api, &text, &object).await;
            let found = api.kubectl(&[&["get", "-o", "json"][..], &object].concat()).await.unwrap();
            let mut found = file_of(serde_json::from_str(&found).unwrap());
            found["metadata"].as_object_mut().unwrap().remove("annotations");
            assert_eq!(read(&found.to_string()), release, "{}", path.display());
            api.kubectl(&[&["delete"], &object[..]].concat()).await.unwrap();
            taken += 1;
        }
        assert!(taken >= 3 && local == 1, "{taken} taken, {local} of this machine");
    });
}

#[test]
fn the_kind_is_listed_and_explained() {
    beside_an_api_server(async |api| {
        define(api, "resource-explained").await;
        for (path, said) in [
            ("spec.uid", "Part of everything that is signed"),
            ("spec.rollout.plans.weight", "Share of the canary in percent"),
            ("spec.override", "Choice of a version by testers"),
            ("spec.identifyBy.jwt.claim", "Name of the claim, or its path."),
            ("status.rollout.kinds.canaryFailed", "<integer>"),
        ] {
            let text = api.kubectl(&["explain", &format!("crel.{path}")]).await.unwrap();
            assert!(text.contains(said), "{path}: expected {said:?} in {text}");
        }
        let names = api.kubectl(&["api-resources", "--categories=canary", "--no-headers"]).await.unwrap();
        assert!(names.starts_with("releases "), "{names}");
    });
}

/// Everything that a controller may say.
fn status() -> Value {
    let at = "2026-11-28T10:00:00Z";
    json!({
        "observedGeneration": 1, "phase": "Progressing", "stable": "v1", "canary": "v2", "weight": 12.5, "seen": 12.61,
        "conditions": [{
            "type": "Ready", "status": "False", "reason": "Progressing", "message": "step 1 of 3",
            "lastTransitionTime": at, "observedGeneration": 1,
        }],
        "rollout": {
            "plan": "default", "step": 1, "steps": 3, "weight": 12.5, "since": at, "reason": "evidence", "expiresAt": at,
            "kinds": [{
                "kind": "errors", "canaryResponses": 1000, "canaryFailed": 1, "stableResponses": 9000, "stableFailed": 9,
                "ratio": 1, "low": 0.5, "high": 2.5, "users": 8,
            }],
        },
        "problems": [{"id": "no-ready-pods", "message": "no pod of v2 is ready"}],
        "waitingFor": "300 responses", "driver": "controller",
        "request": {"action": "weight", "weight": 20, "by": "alice", "id": "1"},
        "lastRequest": {"action": "pause", "weight": 1, "by": "bob", "id": "0", "at": at, "result": "Done", "message": "paused"},
    })
}

#[test]
fn a_status_has_its_fields_and_the_columns_show_them() {
    beside_an_api_server(async |api| {
        define(api, "resource-status").await;
        let mut file: Value = serde_json::from_str(&differences::valid().to_string()).unwrap();
        file["metadata"]["namespace"] = json!("resource-status");
        api.apply(&file.to_string()).await.unwrap();
        let object = ["releases.canary-ctl.io", "shop", "-n", "resource-status"];
        let patch = async |status: Value| {
            let patch = json!({"status": status}).to_string();
            let how = ["patch", "--subresource=status", "--type=merge", "-p", &patch, "-o", "json"];
            api.kubectl(&[&how[..], &object].concat()).await
        };
        let patched: Value = serde_json::from_str(&patch(status()).await.unwrap()).unwrap();
        assert_eq!(patched["status"], status());
        let listed = api.kubectl(&[&["get"], &object[..]].concat()).await.unwrap();
        let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["NAME", "STABLE", "CANARY", "WEIGHT", "SEEN", "PHASE", "AGE"]);
        assert_eq!(rows[1][..6], ["shop", "v1", "v2", "12.5", "12.61", "Progressing"]);
        for wrong in [json!({"phase": "Running"}), json!({"request": {"action": "delete"}})] {
            patch(wrong.clone()).await.expect_err(&wrong.to_string());
        }
    });
}
