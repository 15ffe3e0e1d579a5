//! From Argo Rollouts and back.

use super::{MOVING, Move, object, template};
use crate::support::in_the_mesh;
use crate::support::object_owner::virtual_service;
use serde_json::{Value, json};
use wasm_tests::mesh::{PeerController, ShopEnv};
use wasm_tests::scenario::Faults;

#[test]
#[ignore = "needs Argo Rollouts: ./x test long"]
fn an_application_of_argo_rollouts_moves_here_with_its_pods_and_goes_back_in_one_moment() {
    in_the_mesh(async |lab| {
        let _argo = PeerController::argo_rollouts(lab).await.unwrap();
        let mut shop = Move::new(lab, "from-argo").await;
        lab.apply(
            &(services(&shop.env)
                + &routes(&shop.env)
                + &rollout(&shop.env, &own_pods("v1"), &by_services())),
        )
        .await
        .unwrap();
        healthy(&shop).await;
        assert_eq!(shop.come().await, 0);

        shop.move_here("--stable v1 --canary v2 --from-argo").await;
        let labels = json!({"app": "shop", "version": "v2"});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template("v2", &labels)});
        lab.apply(&object(&shop.env, ["apps/v1", "Deployment", "shop-v2"], &spec)).await.unwrap();
        shop.rolled_out("shop-v2").await;
        shop.promote("v1").await;

        lab.scale(&shop.env.namespace, "shop-v1", 0).await.unwrap();
        shop.rolled_out("shop-v1").await;
        shop.run("uninstall").await;
        let people = shop.sessions.count();
        let moving = shop.sessions.start_load(MOVING);
        lab.apply(&(routes(&shop.env) + &rollout(&shop.env, &own_pods("v2"), &by_services()))).await.unwrap();
        healthy(&shop).await;
        let during = shop.sessions.stop_load(moving).await.expect("they come back");
        assert_eq!(during.failed, [""; 0], "Argo takes over");
        // Argo has its own pods: the sessions in the memory of ours end, all of them in one moment. Some have begun again already.
        let (lost, faults) = shop.sessions.reopen("v2").await;
        assert_eq!(faults.but_closed(), Faults::default());
        assert!((people - MOVING..=people).contains(&lost), "{lost} of {people}");
        let namespace = shop.env.namespace.clone();
        let line = ["delete", "deployment", "shop-v1", "shop-v2", "-n", &namespace];
        shop.under_load("the end of our pods", async |_: &_| drop(lab.kubectl(&line).await.unwrap())).await;
        println!("{lost} of {people} sessions began again with the way back, none before");
    });
}

/// The selector of that Deployment fits the pods of the Rollout, too.
#[test]
#[ignore = "needs Argo Rollouts: ./x test long"]
fn a_rollout_with_the_template_of_a_deployment_moves_here_with_its_pods() {
    in_the_mesh(async |lab| {
        let _argo = PeerController::argo_rollouts(lab).await.unwrap();
        let mut shop = Move::new(lab, "from-workload-ref").await;
        let labels = json!({"app": "shop", "version": "v1"});
        let selector = json!({"matchLabels": {"app": "shop"}});
        let spec = json!({"replicas": 0, "selector": selector, "template": template("v1", &labels)});
        let deployment = object(&shop.env, ["apps/v1", "Deployment", "shop"], &spec);
        let of = json!({"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"}});
        let objects =
            [services(&shop.env), routes(&shop.env), deployment, rollout(&shop.env, &of, &by_services())];
        lab.apply(&objects.concat()).await.unwrap();
        healthy(&shop).await;
        shop.come().await;
        shop.move_here("--canary v2 --from-argo").await;
        shop.come().await;
    });
}

/// Both subsets have the Service's pods; Argo tells them by its hash.
#[test]
#[ignore = "needs Argo Rollouts: ./x test long"]
fn a_rollout_between_subsets_moves_here_with_its_pods() {
    in_the_mesh(async |lab| {
        let _argo = PeerController::argo_rollouts(lab).await.unwrap();
        let mut shop = Move::new(lab, "from-subsets").await;
        let subset = |name: &str| json!({"name": name, "labels": {"app": "shop"}});
        let spec = json!({"host": "shop", "subsets": [subset("stable"), subset("canary")]});
        let rule = object(&shop.env, ["networking.istio.io/v1", "DestinationRule", "shop"], &spec);
        let to = |subset: &str, weight: u32| json!({"destination": {"host": "shop", "subset": subset}, "weight": weight});
        let http = json!([{"name": "primary", "route": [to("stable", 100), to("canary", 0)]}]);
        let routes = virtual_service(&shop.env, "shop", &http);
        let istio = json!({
            "virtualService": {"name": "shop", "routes": ["primary"]},
            "destinationRule": {"name": "shop", "stableSubsetName": "stable", "canarySubsetName": "canary"},
        });
        let strategy =
            json!({"trafficRouting": {"istio": istio}, "steps": [{"setWeight": 50}, {"pause": {}}]});
        let objects = [services(&shop.env), rule, format!("---\n{routes}\n")].concat();
        lab.apply(&(objects + &rollout(&shop.env, &own_pods("v1"), &strategy))).await.unwrap();
        let stable = "/spec/subsets/0/labels/rollouts-pod-template-hash";
        shop.until("Argo's hash in the subset", async || {
            shop.field("destinationrule/shop", stable).await.is_string()
        })
        .await;
        answers(&shop).await;
        shop.come().await;
        shop.move_here("--stable v1 --canary v2 --from-argo").await;
        let labels = json!({"app": "shop", "version": "v2"});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template("v2", &labels)});
        lab.apply(&object(&shop.env, ["apps/v1", "Deployment", "shop-v2"], &spec)).await.unwrap();
        shop.rolled_out("shop-v2").await;
        shop.promote("v1").await;
    });
}

/// Returns when Argo has given the Service to the pods of the Rollout and the gateway leads there.
async fn healthy(shop: &Move<'_>) {
    let is_healthy = async || {
        let hash = shop.field("rollout/shop", "/status/stableRS").await;
        let selected = shop.field("service/shop", "/spec/selector/rollouts-pod-template-hash").await;
        hash.is_string() && hash == selected && shop.field("rollout/shop", "/status/phase").await == "Healthy"
    };
    shop.until("a healthy Rollout", is_healthy).await;
    answers(shop).await;
}

/// Returns when the gateway leads to the shop.
async fn answers(shop: &Move<'_>) {
    let answers = async || {
        let page = shop.env.user().navigate("/").await;
        page.is_ok_and(|page| page.status == 200)
    };
    shop.until("a page of the shop", answers).await;
}

fn services(env: &ShopEnv) -> String {
    let ports = json!([{"name": "http", "port": 80, "targetPort": 8080}]);
    let spec = json!({"selector": {"app": "shop"}, "ports": ports});
    ["shop", "shop-canary"].map(|name| object(env, ["v1", "Service", name], &spec)).concat()
}

/// The user's own, as Argo's documentation has it.
fn routes(env: &ShopEnv) -> String {
    let to = |host: &str, weight: u32| json!({"destination": {"host": host}, "weight": weight});
    let http = json!([{"name": "primary", "route": [to("shop", 100), to("shop-canary", 0)]}]);
    format!("---\n{}\n", virtual_service(env, "shop", &http))
}

/// The fields of a Rollout with a pod template of its own.
fn own_pods(version: &str) -> Value {
    let labels = json!({"app": "shop"});
    json!({"selector": {"matchLabels": labels}, "template": template(version, &labels)})
}

/// A strategy with a Service for each version.
fn by_services() -> Value {
    let istio = json!({"virtualService": {"name": "shop", "routes": ["primary"]}});
    json!({
        "stableService": "shop",
        "canaryService": "shop-canary",
        "trafficRouting": {"istio": istio},
        "steps": [{"setWeight": 50}, {"pause": {}}],
    })
}

/// A Rollout with these fields about its pods.
fn rollout(env: &ShopEnv, pods: &Value, strategy: &Value) -> String {
    let mut spec = pods.clone();
    spec["replicas"] = json!(1);
    spec["strategy"] = json!({"canary": strategy});
    object(env, ["argoproj.io/v1alpha1", "Rollout", "shop"], &spec)
}
