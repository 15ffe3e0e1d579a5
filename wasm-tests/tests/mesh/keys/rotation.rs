//! Keys that take over from others: no user notices, and no gateway ever meets a seal of a key that it does not know.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::release_fixture::{ReleaseFixture, WITHOUT_PODS, apply, uninstall};
use canary_operations::{Cluster, Error, RotateOptions, Rotated, WaitOptions, WriteOptions};
use canary_release::delivery::deployed_config;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::Release;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Faults, Sessions};

const PEOPLE: usize = 150;

#[test]
fn no_session_moves_while_a_new_key_takes_over_and_the_old_one_stays_until_its_seals_have_aged() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "rotated", &ShopEnvOptions::gateway()).await.unwrap();
        let people = || (0..PEOPLE).map(|_| env.user()).collect::<Vec<_>>();
        let release = env
            .release()
            .unwrap()
            .with("/spec/sessionAffinity", "identity")
            .with("/spec/maxStep", "100")
            .with("/spec/weight", "50");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let (mut old, mut new) = (Sessions::default(), Sessions::default());
        assert_eq!(old.open(people()).await.1, Faults::default());

        cli.expect("rotate-keys --dry-run=client", 0, &["k2 signs, k1 verifies", "nothing written"]).await;
        cli.expect("rotate-keys --retire", 0, &["k1 signs\n"]).await;
        let moving = old.start_load(PEOPLE / 2);
        cli.expect("rotate-keys", 0, &["k2 signs, k1 verifies (generation 4)", "--retire"]).await;
        assert_eq!(old.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(old.verify_all(true).await, Faults::default(), "sealed by the old key");
        assert_eq!(new.open(people()).await.1, Faults::default(), "sealed by the new one");

        cli.expect("rotate-keys --retire", 2, &["what k1 signed counts until", "moves-users"]).await;
        cli.expect("rotate-keys --retire --skip-check moves-users", 0, &["k2 signs (generation 5)"]).await;
        assert_eq!(new.verify_all(true).await, Faults::default(), "the new key's seals count");
        assert_ne!(
            old.verify_all(false).await.moved,
            [] as [String; 0],
            "the old one's do not: that is what it waits for"
        );
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_rotation_that_was_killed_leaves_no_gateway_without_a_key_that_signs() {
    in_the_mesh(async |lab| {
        let fixture = ReleaseFixture::new(lab, "half-rotated").await;
        let gateway = |namespace: &str| json!({"name": format!("{namespace}/gateway"), "selector": {"istio": "gateway"}});
        let gateways = json!([gateway("half-rotated-ingress"), gateway("half-rotated")]);
        let release = ReleaseFixture::read(&fixture.document("shop").with("/spec/gateways", gateways));
        let cluster = fixture.cluster().await;
        // Of two steps with eleven writes each: two Secrets; a Lease, the record, two Leases, two configurations, three Leases back.
        for writes in [1, 6, 12, 17] {
            apply(&cluster, &release).await.unwrap();
            fixture
                .interrupt(writes, WriteOptions::default(), async |process| rotate(process, &release).await)
                .await;
            every_gateway_knows_what_others_sign(&fixture, writes).await;
            continued(&cluster, &release, writes).await;
            every_gateway_knows_what_others_sign(&fixture, writes).await;
            let signer = signer(&cluster, &release).await;
            assert_eq!(signer, "k2", "continued, not begun again, after {writes} writes");
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "after {writes} writes");
            uninstall(&cluster, &release).await.unwrap();
            for namespace in ["half-rotated", "half-rotated-ingress"] {
                lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", namespace]).await.unwrap();
            }
        }
    });
}

#[test]
fn a_neighbour_whose_pins_live_longer_keeps_the_old_key_longer() {
    in_the_mesh(async |lab| {
        let fixture = ReleaseFixture::new(lab, "outlived").await;
        let cluster = fixture.cluster().await;
        let shop = fixture.release("shop");
        apply(&cluster, &shop).await.unwrap();
        let alone = rotate(&cluster, &shop).await.unwrap().retire_from.expect("an old key is left");
        // It has the same gateway, and so the same keys.
        apply(
            &cluster,
            &ReleaseFixture::read(&fixture.document("blog").with("/spec/session/maxAge", "240h")),
        )
        .await
        .unwrap();
        let among =
            cluster.dry_run_rotation(&shop, true, &[PreflightCheck::MovesUsers]).await.unwrap().retire_from;
        assert_eq!(among.unwrap().duration_since(alone).as_hours(), 72, "a week is what tokens live");
        let refused = cluster.dry_run_rotation(&shop, true, &[]).await;
        assert!(
            matches!(&refused, Err(Error::Preflight(refusal)) if refusal.check == PreflightCheck::MovesUsers),
            "{refused:?}"
        );
    });
}

/// What an operator does after a rotation that was interrupted.
async fn continued(cluster: &Cluster, release: &Release, writes: u32) {
    let is_in_the_secrets = signer(cluster, release).await == "k2";
    if is_in_the_secrets && cluster.plan(release).await.is_ok_and(|plan| plan.is_empty()) {
        return; // Nothing was left but to give a Lease back.
    }
    // The keys may be in the Secrets and not in the proxies yet: then `apply` has to come first.
    if let Err(error) = rotate(cluster, release).await {
        assert!(matches!(error, Error::NotApplied), "after {writes} writes: {error:?}");
        apply(cluster, release).await.unwrap();
    }
}

/// The key that signs by the Secrets, at the later of their steps.
async fn signer(cluster: &Cluster, release: &Release) -> String {
    let rehearsed = cluster.dry_run_rotation(release, true, &[PreflightCheck::MovesUsers]).await.unwrap();
    rehearsed.ring.signer().unwrap().id.clone()
}

async fn rotate(cluster: &Cluster, release: &Release) -> Result<Rotated, Error> {
    let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut |_, _| {} };
    Box::pin(cluster.rotate_keys(release, RotateOptions { waiting, skipped: &WITHOUT_PODS })).await
}

async fn every_gateway_knows_what_others_sign(fixture: &ReleaseFixture<'_>, writes: u32) {
    let objects = fixture.objects().await;
    let held = objects.iter().filter(|object| object["kind"] == "EnvoyFilter");
    let rings: Vec<_> =
        held.filter_map(|object| deployed_config(object).unwrap()).map(|config| config.keys).collect();
    assert_eq!(rings.len(), 2);
    let sign = |ring: &Vec<assignment::contract::RingKey>| {
        ring.iter().find(|key| key.usage == assignment::contract::KeyUse::Sign).unwrap().id.clone()
    };
    let signers: BTreeSet<String> = rings.iter().map(sign).collect();
    for ring in &rings {
        let known: BTreeSet<String> = ring.iter().map(|key| key.id.clone()).collect();
        assert!(
            signers.is_subset(&known),
            "after {writes} writes {signers:?} sign, and a gateway knows {known:?}"
        );
    }
}
