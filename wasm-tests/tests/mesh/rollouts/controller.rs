//! Rollouts by the controller: an object is applied, and nobody types a command. The controller has the rights that its manifests give it.

use super::DEADLINE;
use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use mesh_lab::Lab;
use serde_json::{Value, json};
use tokio::process::Child;
use wasm_tests::mesh::{ShopperReport, Shoppers};
use wasm_tests::scenario::{Document, HOST};

/// The account that the manifests' ClusterRole is bound to.
const ACCOUNT: &str = "restricted-controller";

/// The definitions and the rights; the Deployment is this test's process.
async fn install(lab: &Lab, cli: &Cli) {
    let printed = cli.expect("generate controller --image unused", 0, &["kind: Deployment"]).await.stdout;
    let needed = ["\nkind: CustomResourceDefinition\n", "\nkind: ClusterRole\n"];
    let objects: Vec<&str> =
        printed.split("---\n").filter(|object| needed.iter().any(|kind| object.contains(kind))).collect();
    assert_eq!(objects.len(), 4, "{printed}");
    lab.apply(&objects.join("---\n")).await.unwrap();
    let subject = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ACCOUNT});
    for name in ["canary-controller", "canary-controller-cluster"] {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": format!("lab-{name}")}, "subjects": [subject], "roleRef": role});
        lab.apply(&binding.to_string()).await.unwrap();
    }
    for name in ["releases.canary-ctl.io", "releasegrants.canary-ctl.io"] {
        let established = ["wait", "--for=condition=Established", "--timeout=60s", "crd", name];
        lab.kubectl(&established).await.unwrap();
    }
}

/// The namespace of the shop with a controller for its objects, and with what the gateway's owner grants.
async fn controlled<'l>(lab: &'l Lab, name: &str, failing: u8) -> (LoadedFixture<'l>, Cli, [Child; 2]) {
    let step = |weight: u32| json!({"weight": weight, "hold": "6s"});
    let rollout = json!({"plans": {"default": [step(10), step(50)]}, "deadline": "3m"});
    let with = |document: Document| {
        document.with("/spec/rollout", rollout).with("/spec/sessionAffinity", "identity")
    };
    let loaded = LoadedFixture::set_up(lab, name, with).await;
    if failing > 0 {
        let setting = format!("SHOP_FAIL_PERCENT={failing}");
        lab.kubectl(&["set", "env", "-n", name, "deployment/shop-v2", &setting]).await.unwrap();
        lab.rolled_out(name, "shop-v2").await.unwrap();
    }
    let cli = Cli::of(lab, &loaded.document, ACCOUNT);
    install(lab, &Cli::new(lab, &loaded.document)).await;
    let release: Value = serde_json::from_str(&loaded.document.text()).unwrap();
    let gateway =
        release["spec"]["gateways"][0]["name"].as_str().unwrap().split('/').next().unwrap().to_owned();
    let grant = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "ReleaseGrant",
        "metadata": {"name": "shop", "namespace": gateway}, "spec": {"from": [name], "hosts": ["*"], "modules": ["oci://", "http://", "https://", "file://"]}});
    lab.apply(&grant.to_string()).await.unwrap();
    let line = format!("controller --namespace {name} --lease-namespace {name} --interval 2s");
    let replicas = [cli.spawn(&line), cli.spawn(&line)];
    (loaded, cli, replicas)
}

/// The object as the file is, without the uid that a file may have and an object may not, and with numbers as numbers.
fn object(loaded: &LoadedFixture<'_>, versions: &Value) -> String {
    let mut object: Value = serde_json::from_str(&loaded.document.text()).unwrap();
    object["metadata"].as_object_mut().unwrap().remove("uid");
    object["spec"]["versions"] = versions.clone();
    object["spec"]["weight"] = json!(0);
    object["spec"]["maxStep"] = json!(100);
    object.to_string()
}

async fn status(lab: &Lab, namespace: &str, release: &str) -> Value {
    let text =
        lab.kubectl(&["get", "release.canary-ctl.io", release, "-n", namespace, "-o", "json"]).await.unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["status"].clone()
}

async fn until(lab: &Lab, loaded: &LoadedFixture<'_>, condition: &str) {
    let name = &loaded.release.name;
    let (namespace, release) = (name.namespace.as_str(), format!("release.canary-ctl.io/{}", name.name));
    let timeout = format!("--timeout={}s", DEADLINE.as_secs());
    let wait = ["wait", "-n", namespace, &format!("--for=condition={condition}"), &timeout, &release];
    if let Err(error) = lab.kubectl(&wait).await {
        panic!("{error}: {:#}", status(lab, namespace, name.name.as_str()).await);
    }
}

fn assert_nobody_was_hurt(tally: &ShopperReport) {
    assert_eq!((tally.failed_users, tally.lost, tally.flips.len()), (0, 0, 0), "{tally:?}");
}

#[test]
fn a_good_canary_is_promoted_from_an_object_alone_though_replicas_are_killed_and_the_next_version_follows() {
    in_the_mesh(async |lab| {
        let name = "controller-good";
        let (loaded, _cli, [mut first, _second]) = controlled(lab, name, 0).await;
        lab.apply(&object(&loaded, &json!({"stable": "v1"}))).await.unwrap();
        until(lab, &loaded, "Ready").await;
        loaded.answers(HOST).await;
        let shoppers = Shoppers::start(loaded.env.gateway);
        lab.apply(&object(&loaded, &json!({"stable": "v1", "canary": "v2"}))).await.unwrap();
        lab.until("a rollout", async || {
            let seen = status(lab, name, "shop").await;
            (seen["phase"] == "Progressing" && seen["rollout"]["step"] == 1).then_some(())
        })
        .await
        .unwrap();
        first.kill().await.unwrap();
        until(lab, &loaded, "Promoted").await;
        let tally = shoppers.stop().await.unwrap();
        println!("{} users, {} requests", tally.users, tally.requests);
        assert_nobody_was_hurt(&tally);
        let user = loaded.user_at(HOST).navigate("/").await.unwrap();
        assert_eq!(user.header("x-shop-version"), Some("v2"), "new users are on what was the canary");

        lab.apply(&object(&loaded, &json!({"stable": "v2", "canary": "v1"}))).await.unwrap();
        lab.until("the rollout of the next version", async || {
            let seen = status(lab, name, "shop").await;
            (seen["canary"] == "v1" && seen["weight"] == 10.0).then_some(())
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_bad_canary_is_rolled_back_from_an_object_alone_and_its_deletion_leaves_everybody_on_stable() {
    in_the_mesh(async |lab| {
        let name = "controller-bad";
        let (loaded, _cli, _replicas) = controlled(lab, name, 50).await;
        lab.apply(&object(&loaded, &json!({"stable": "v1"}))).await.unwrap();
        until(lab, &loaded, "Ready").await;
        loaded.answers(HOST).await;
        let shoppers = Shoppers::start(loaded.env.gateway);
        lab.apply(&object(&loaded, &json!({"stable": "v1", "canary": "v2"}))).await.unwrap();
        until(lab, &loaded, "Stalled").await;
        let seen = status(lab, name, "shop").await;
        println!("{seen:#}");
        assert_eq!(seen["phase"], "RolledBack", "{seen:#}");
        shoppers.stop().await.unwrap();

        let shoppers = Shoppers::start(loaded.env.gateway);
        lab.kubectl(&["delete", "release.canary-ctl.io", "shop", "-n", name, "--timeout=30s"]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        let tally = shoppers.stop().await.unwrap();
        assert_nobody_was_hurt(&tally);
        let versions = lab
            .kubectl(&["get", "deployments", "-n", name, "-o", "jsonpath={.items[*].spec.replicas}"])
            .await;
        assert!(!versions.unwrap().contains('0'), "no pod was scaled");
        // With several pods of stable the rule that keeps each user on one of them stays.
        for (deployment, replicas) in [("shop-v1", 1), ("shop-v2", 0)] {
            lab.scale(name, deployment, replicas).await.unwrap();
        }
        lab.until("the objects' end", async || {
            let left = lab
                .kubectl(&["get", "destinationrules,virtualservices", "-n", name, "-o", "name"])
                .await
                .unwrap();
            (!left.contains("canary")).then_some(())
        })
        .await
        .unwrap();
    });
}
