//! A Gateway of the Gateway API that Istio deploys, and an `HTTPRoute` to a Service of each version.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use browser::{Kind, User, Visit};
use serde_json::{Value, json};
use std::net::SocketAddr;
use wasm_tests::scenario::{Document, HOST};

const USERS: usize = 60;

#[test]
fn a_release_behind_a_gateway_of_the_gateway_api_is_routed_by_http_routes() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "gateway-api", |release| release).await;
        let (shop, ingress) = (&loaded.env.namespace, &loaded.env.ingress);
        lab.apply(&stream(&[gateway(ingress), service(shop, "v1"), service(shop, "v2")])).await.unwrap();
        lab.until("the gateway that Istio deploys", async || {
            lab.rolled_out(ingress, "edge-istio").await.ok()
        })
        .await
        .unwrap();
        let edge = lab.service(ingress, "edge-istio", 80).await.unwrap();

        let cli = Cli::new(lab, &behind_edge(&loaded.document, ingress));
        cli.expect("apply --wait --skip-check no-routes", 0, &["active in 1 proxy"]).await;
        cli.expect("weight 50", 2, &["no VirtualService, HTTPRoute or GRPCRoute leads to version `v2`"])
            .await;
        let routes = cli.run("generate routes --gateway-api").await.stdout;
        lab.apply(&routes).await.unwrap();
        lab.until("the routes", async || (versions(edge, &[]).await? == ["v1"]).then_some(())).await.unwrap();
        cli.expect("weight 50 --wait", 0, &["0% -> 50%"]).await;
        let status = cli.expect("status", 0, &["1 of 1 proxies run it"]).await;
        assert!(!status.stdout.contains("problem: "), "{status:?}");

        let users: Vec<User> = (0..USERS).map(|_| user(edge)).collect();
        let mut on_canary = 0;
        for mut user in users {
            let mut seen = Vec::new();
            for _ in 0..4 {
                let response = user.navigate("/").await.unwrap();
                assert_eq!(response.status, 200, "{}", response.text());
                seen.push(response.header("x-shop-version").unwrap_or_default().to_owned());
            }
            assert!(seen.iter().all(|version| Some(version) == seen.first()), "one session: {seen:?}");
            on_canary += usize::from(seen.first().is_some_and(|version| version == "v2"));
        }
        assert!((15..=45).contains(&on_canary), "at 50 %, {on_canary} of {USERS} sessions are on the canary");
        cli.expect("weight 0 --wait", 0, &["50% -> 0%"]).await;
        let forged = [("x-canary-version", "gateway-api/shop/v2")];
        assert_eq!(versions(edge, &forged).await.unwrap(), ["v1"], "a client does not choose a version");
        cli.expect("uninstall --skip-check moves-users", 0, &[]).await;
    });
}

pub(super) fn user(edge: SocketAddr) -> User {
    User::http1(edge, HOST).as_if_tls()
}

/// The versions that ten new users get, each once.
pub(super) async fn versions(edge: SocketAddr, headers: &[(&str, &str)]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for _ in 0..10 {
        let mut visit = Visit::new(Kind::Navigate, "/");
        for (name, value) in headers {
            visit = visit.header(name, value);
        }
        let response = user(edge).send(&visit).await.ok()?;
        found.push(response.header("x-shop-version")?.to_owned());
    }
    found.sort();
    found.dedup();
    Some(found)
}

/// The release behind the Gateway `edge`, with routes that somebody else writes.
fn behind_edge(release: &Document, ingress: &str) -> Document {
    let gateways = json!([{
        "name": format!("{ingress}/edge"),
        "namespace": ingress,
        "selector": {"gateway.networking.k8s.io/gateway-name": "edge"},
    }]);
    release.clone().with("/spec/gateways", gateways).with("/spec/routes", "external")
}

pub(super) fn gateway(namespace: &str) -> Value {
    let listener = json!({"name": "http", "port": 80, "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}}});
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "edge", "namespace": namespace},
        "spec": {"gatewayClassName": "istio", "listeners": [listener]}})
}

fn service(namespace: &str, version: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": format!("shop-{version}"), "namespace": namespace},
        "spec": {"selector": {"app": "shop", "version": version},
            "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}})
}

pub(super) fn stream(objects: &[Value]) -> String {
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}
