//! A thousand releases on one gateway: how large their object is, how long a push takes, and what Envoy remembers.

use std::time::Instant;

use serde_json::json;

use crate::modules::Parts;
use crate::support::in_the_mesh;
use wasm_tests::client::User;
use wasm_tests::lab::{Lab, Stage, StageOptions};
use wasm_tests::scenario::Document;

const RELEASES: usize = 1000;

#[test]
fn a_thousand_releases_share_a_gateway_and_one_of_them_changes_its_weight() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "scale", &StageOptions::gateway()).await.unwrap();
        let mut releases: Vec<Document> = (0..RELEASES).map(|number| release(&stage, number)).collect();
        let last = RELEASES - 1;
        let routes = Parts::of(&stage.generate(&[releases.last().unwrap()], 1).unwrap());
        lab.apply(&routes.routes).await.unwrap();
        lab.apply(&Parts::of(&stage.generate(&[&releases[0]], 1).unwrap()).delivery()).await.unwrap();
        until_is_on(lab, &stage, "v1").await;
        let before = memory(lab, &stage).await;

        for weight in ["100", "0", "100"] {
            releases[last].set("/spec/weight", weight);
            let all: Vec<&Document> = releases.iter().collect();
            let config = Parts::of(&stage.generate(&all, 2).unwrap()).config;
            let start = Instant::now();
            lab.apply(&config).await.unwrap();
            let applied = start.elapsed();
            until_is_on(lab, &stage, if weight == "0" { "v1" } else { "v2" }).await;
            eprintln!(
                "{RELEASES} releases: an object of {} kB, applied after {applied:?}, active after {:?}",
                config.len() / 1000,
                start.elapsed(),
            );
        }
        let after = memory(lab, &stage).await;
        eprintln!("{RELEASES} releases: Envoy's memory {before:.1} MB with one, {after:.1} MB with all");
        assert!(
            after - before < 50.0,
            "50 kB for a release is more than it can need: {before} MB, {after} MB"
        );
    });
}

/// A release of the one service, for a host of its own.
fn release(stage: &Stage, number: usize) -> Document {
    let release = stage.release().unwrap().with("/metadata/name", format!("shop-{number}"));
    Document::from_value(release.with("/spec/hosts", json!([host(number)])).get(""))
}

fn host(number: usize) -> String {
    format!("shop-{number}.example.com")
}

/// Waits until a new user of the last release's host is on this version.
async fn until_is_on(lab: &Lab, stage: &Stage, version: &str) {
    lab.until(&format!("new users on {version}"), async || {
        let mut user = User::http1(stage.gateway, host(RELEASES - 1)).as_if_tls();
        let answer = user.navigate("/").await.ok()?;
        (answer.header("x-shop-version") == Some(version)).then_some(())
    })
    .await
    .unwrap();
}

/// What Envoy has allocated, in MB.
async fn memory(lab: &Lab, stage: &Stage) -> f64 {
    let pod = stage.gateway_pod(lab).await.unwrap();
    let bytes = lab.proxy_metric(&stage.ingress, &pod, "envoy_server_memory_allocated", &[]).await.unwrap();
    assert!(bytes > 0.0, "Envoy says how much memory it has");
    bytes / 1e6
}
