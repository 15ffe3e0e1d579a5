//! A thousand releases on one gateway: how large their object is, how long a push takes, and what Envoy remembers.

use std::time::Instant;

use serde_json::json;

use crate::support::filter_source::Parts;
use crate::support::in_the_mesh;
use browser::User;
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

const RELEASES: usize = 1000;

#[test]
#[ignore = "takes long: ./x test long"]
fn a_thousand_releases_share_a_gateway_and_one_of_them_changes_its_weight() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "scale", &ShopEnvOptions::gateway()).await.unwrap();
        let mut releases: Vec<Document> = (0..RELEASES).map(|number| release(&env, number)).collect();
        let last = RELEASES - 1;
        let routes = Parts::of(&env.generate(&[releases.last().unwrap()], 1).unwrap());
        lab.apply(&routes.routes).await.unwrap();
        lab.apply(&Parts::of(&env.generate(&[&releases[0]], 1).unwrap()).delivery()).await.unwrap();
        until_is_on(lab, &env, "v1").await;
        let before = memory(lab, &env).await;

        for weight in ["100", "0", "100"] {
            releases[last].set("/spec/weight", weight);
            let all: Vec<&Document> = releases.iter().collect();
            let config = Parts::of(&env.generate(&all, 2).unwrap()).config;
            let start = Instant::now();
            lab.apply(&config).await.unwrap();
            let applied = start.elapsed();
            until_is_on(lab, &env, if weight == "0" { "v1" } else { "v2" }).await;
            eprintln!(
                "{RELEASES} releases: an object of {} kB, applied after {applied:?}, active after {:?}",
                config.len() / 1000,
                start.elapsed(),
            );
        }
        let after = memory(lab, &env).await;
        eprintln!("{RELEASES} releases: Envoy's memory {before:.1} MB with one, {after:.1} MB with all");
        assert!(
            after - before < 50.0,
            "50 kB for a release is more than it can need: {before} MB, {after} MB"
        );
    });
}

/// A release of the one service, for a host of its own.
fn release(env: &ShopEnv, number: usize) -> Document {
    let release = env.release().unwrap().with("/metadata/name", format!("shop-{number}"));
    Document::from_value(release.with("/spec/hosts", json!([host(number)])).get(""))
}

fn host(number: usize) -> String {
    format!("shop-{number}.example.com")
}

/// Waits until a new user of the last release's host is on this version.
async fn until_is_on(lab: &Lab, env: &ShopEnv, version: &str) {
    lab.until(&format!("new users on {version}"), async || {
        let mut user = User::http1(env.gateway, host(RELEASES - 1)).as_if_tls();
        let response = user.navigate("/").await.ok()?;
        (response.header("x-shop-version") == Some(version)).then_some(())
    })
    .await
    .unwrap();
}

/// What Envoy has allocated, in MB.
async fn memory(lab: &Lab, env: &ShopEnv) -> f64 {
    let pod = env.gateway_pod(lab).await.unwrap();
    let bytes = lab.proxy_metric(&env.ingress, &pod, "envoy_server_memory_allocated", &[]).await.unwrap();
    assert!(bytes > 0.0, "Envoy says how much memory it has");
    bytes / 1e6
}
