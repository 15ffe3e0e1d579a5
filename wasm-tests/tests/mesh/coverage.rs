//! At weight 0 no request reaches the canary by another entry: a gateway without the filter, a pod in the mesh (promise
//! 5).

use std::net::SocketAddr;

use browser::{Kind, User, Visit};
use serde_json::json;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

use crate::support::{arrived, in_the_mesh, without};

const REQUESTS: u64 = 1_000;

#[test]
fn at_weight_0_no_request_reaches_the_canary_from_a_gateway_without_the_filter_or_from_a_pod_in_the_mesh() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "coverage", &ShopEnvOptions::default()).await.unwrap();
        let bare = env.another_gateway(lab, "coverage-bare", "1.40").await.unwrap();
        let mut release = env.release().unwrap().with("/spec/weight", "0");
        let mut gateways = release.get("/spec/gateways");
        gateways.as_array_mut().unwrap().push(json!({
            "name": "coverage-bare/shop",
            "namespace": "coverage-bare",
            "selector": {"istio": "coverage-bare"},
        }));
        release.set("/spec/gateways", gateways);
        let manifests = env.generate(&[&release], 1).unwrap();
        // Its operator forgot the filter. Our routes exist.
        lab.apply(&without(&manifests, "namespace: coverage-bare")).await.unwrap();
        arrived(lab, &env, &release, 1).await;
        lab.until("our routes in the other gateway", async || {
            let response = User::http1(bare, HOST).navigate("/").await.ok()?;
            (response.status == 200).then_some(())
        })
        .await
        .unwrap();
        assert_eq!(on_stable(bare, HOST).await, REQUESTS, "by the gateway without the filter");

        lab.apply(&client()).await.unwrap();
        lab.rolled_out("coverage-client", "client").await.unwrap();
        let pod = lab.pods("coverage-client", "app=client").await.unwrap().remove(0);
        let service = lab.service(&env.namespace, "shop", 80).await.unwrap();
        let from_pod = async move || on_stable(service, "shop.coverage").await;
        let count = lab.in_pod("coverage-client", &pod, from_pod).unwrap();
        assert_eq!(count, REQUESTS, "from a pod in the mesh");
    });
}

/// How many of all requests were answered by stable: pages, data, and sessions that are older than the filter.
async fn on_stable(address: SocketAddr, host: &str) -> u64 {
    let mut user = User::http1(address, host).as_if_tls();
    let mut count = 0;
    for request in 0..REQUESTS {
        user.jar.clear();
        let visit = match request % 3 {
            0 => Visit::new(Kind::Navigate, "/"),
            1 => Visit::new(Kind::Api, "/api/ping"),
            _ => Visit::new(Kind::Fetch, "/cart").header("cookie", format!("JSESSIONID=session-{request}")),
        };
        let response = user.send(&visit).await.unwrap();
        count += u64::from(response.status == 200 && response.header("x-shop-version") == Some("v1"));
    }
    count
}

/// A pod that has nothing to do but to be in the mesh, in a namespace of its own.
fn client() -> String {
    let labels = json!({"app": "client"});
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "coverage-client", "labels": {"istio-injection": "enabled"}},
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "client", "namespace": "coverage-client"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "client", "image": "demo-shop",
                    "args": ["--listen=0.0.0.0:8080", "--version=none", "--pod=client"],
                }]},
            },
        },
    });
    format!("---\n{namespace}\n---\n{deployment}\n")
}
