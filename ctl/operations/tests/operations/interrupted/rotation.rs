//! A rotation of the signing keys of two gateways that is killed.

use super::count_writes;
use assignment::contract::KeyUse;
use canary_operations::{Cluster, Error};
use canary_release::delivery::deployed_config;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{self, INGRESS, apply, pod, release, rotate, run, shop};
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_rotation_is_continued_after_any_write_and_each_gateway_verifies_what_others_sign() {
    run(async {
        let gateway = |namespace: &str| json!({"name": format!("{namespace}/gateway"), "selector": {"istio": "gateway"}});
        let release = release(&json!({"gateways": [gateway(INGRESS), gateway("edge")]}));
        let case = async |writes| {
            let api = shop();
            api.state().create(&fixture::gateway("edge", "HTTPS", "*"));
            api.state().create(&pod("edge", "gateway-2", &json!({"istio": "gateway"})));
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            let ended = api.killed_after(writes, async |process| rotate(process, &release).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let context = format!("killed after {writes} writes");
            assert_signers_are_known(&api, &context);
            continue_rotation(&cluster, &release, &context).await;
            assert_signers_are_known(&api, &context);
            let signer = signer(&cluster, &release).await;
            assert_eq!(signer, "k2", "{context}: continued, not begun again");
            let left = cluster.plan(&release).await.unwrap();
            assert!(left.is_empty(), "{context}: {left:?} is left");
            true
        };
        let expected = "the keys of records in two Secrets, the record; two steps, each: two Secrets; a Lease, the record, two Leases, two configurations, three Leases back";
        assert_eq!(count_writes(case).await, 25, "{expected}");
    });
}

/// What an operator does after a rotation that was interrupted.
async fn continue_rotation(cluster: &Cluster, release: &Release, context: &str) {
    let is_in_the_secrets = signer(cluster, release).await == "k2";
    if is_in_the_secrets && cluster.plan(release).await.is_ok_and(|plan| plan.is_empty()) {
        return; // Only a Lease had to be released.
    }
    // If the Secrets have the keys and the proxies do not, `apply` has to come first.
    if let Err(error) = rotate(cluster, release).await {
        assert!(matches!(error, Error::NotApplied), "{context}: {error:?}");
        apply(cluster, release).await.unwrap();
    }
}

/// The key that signs by the Secrets, at the later of their steps.
async fn signer(cluster: &Cluster, release: &Release) -> String {
    let rotated = cluster.dry_run_rotation(release, true, &[PreflightCheck::MovesUsers]).await.unwrap();
    rotated.ring.signer().unwrap().id.clone()
}

/// Fails if a gateway signs with a key that another gateway does not have.
fn assert_signers_are_known(api: &FakeApi, context: &str) {
    let state = api.state();
    let configs = state.store.of_kind("EnvoyFilter").filter_map(|object| deployed_config(object).unwrap());
    let rings: Vec<_> = configs.map(|config| config.keys).collect();
    assert_eq!(rings.len(), 2, "{context}: one configuration for each gateway");
    let signing = rings.iter().flatten().filter(|key| key.usage == KeyUse::Sign);
    let signers: BTreeSet<&str> = signing.map(|key| key.id.as_str()).collect();
    for ring in &rings {
        let known: BTreeSet<&str> = ring.iter().map(|key| key.id.as_str()).collect();
        assert!(signers.is_subset(&known), "{context}: {signers:?} sign, a gateway has {known:?}");
    }
}
