//! The first `apply` of a cluster, its `uninstall` and restarts of the gateway, while users send requests through sidecars.

use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::uninstall;
use crate::support::timed_load::TimedLoad;
use canary_release::preflight::PreflightCheck;
use serde_json::json;
use std::time::Duration;
use wasm_tests::mesh::ShopEnvOptions;
use wasm_tests::scenario::HOST;

const USERS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(60);
/// A third of Istio's own: what drains does the same for a shorter time.
const DRAIN: u16 = 15;

#[test]
#[ignore = "takes long: ./x test long"]
fn a_first_apply_an_uninstall_and_restarts_of_the_gateway_fail_no_request() {
    in_the_mesh(async |lab| {
        let options = ShopEnvOptions { drain: DRAIN, ..ShopEnvOptions::default() };
        let inject = |release: wasm_tests::scenario::Document| release.with("/spec/routes", "inject");
        let loaded = LoadedFixture::set_up_with(lab, "first-day", &options, inject).await;
        own_objects(&loaded).await;
        let load = TimedLoad::start(loaded.users(USERS), "/cart", BETWEEN);
        let pause = async |seconds: u16| tokio::time::sleep(Duration::from_secs(seconds.into())).await;
        pause(5).await;
        println!("{:?}: apply", load.now());
        loaded.apply_although(&PreflightCheck::ALL).await.unwrap();
        println!("{:?}: applied", load.now());
        loaded.weigh("30").await;
        pause(DRAIN + 5).await;
        println!("{:?}: uninstall", load.now());
        uninstall(&loaded.cluster, &loaded.release).await.unwrap();
        println!("{:?}: uninstalled", load.now());
        pause(DRAIN + 5).await;
        for _ in 0..2 {
            println!("{:?}: restart", load.now());
            restart_gateway(&loaded).await;
            println!("{:?}: the old pod is gone", load.now());
            pause(5).await;
        }
        let responses = load.stop().await;
        let (failures, all) = (responses.failures(), responses.0.len());
        println!("{responses}{} of {all} requests failed", failures.len());
        assert!(failures.is_empty(), "{failures:?}");
    });
}

/// A rule and routes of the application's owner, with time-outs and retries.
async fn own_objects(loaded: &LoadedFixture<'_>) {
    let cookie = json!({"name": "shop-affinity", "path": "/", "ttl": "0s"});
    let rule = json!({"trafficPolicy": {"loadBalancer": {"consistentHash": {"httpCookie": cookie}}}});
    loaded.rule(&loaded.env.namespace, None, rule).await;
    let route = json!([{"destination": {"host": "shop"}}]);
    let retries = json!({"attempts": 2, "retryOn": "connect-failure,refused-stream"});
    let spec = json!({
        "hosts": [HOST],
        "gateways": [format!("{}/shop", loaded.env.ingress)],
        "http": [
            {"match": [{"uri": {"prefix": "/cart"}}], "timeout": "10s", "retries": retries, "route": route},
            {"timeout": "10s", "route": route},
        ],
    });
    let metadata = json!({"name": "by-hand", "namespace": loaded.env.namespace});
    let object = json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": metadata, "spec": spec});
    loaded.lab.kubectl_as("admin", &["apply", "-f", "-"], &object.to_string()).await.unwrap();
    loaded.answers(HOST).await;
}

/// Returns when the old pod is gone.
async fn restart_gateway(loaded: &LoadedFixture<'_>) {
    let (lab, ingress) = (loaded.lab, loaded.env.ingress.as_str());
    let old = loaded.env.gateway_pod(lab).await.unwrap();
    lab.kubectl(&["rollout", "restart", "-n", ingress, "deployment/gateway"]).await.unwrap();
    lab.rolled_out(ingress, "gateway").await.unwrap();
    lab.until("the end of the old gateway", async || {
        lab.kubectl(&["get", "-n", ingress, &format!("pod/{old}")]).await.is_err().then_some(())
    })
    .await
    .unwrap();
}
