//! Keys that take over from others: no user notices, and no gateway ever meets a seal of a key that it does not know.

use super::desk::{BRIEF, Desk, apply, uninstall};
use super::operator::Operator;
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Cluster, Error, RotateOptions, Rotated, WaitOptions, WriteOptions};
use canary_ctl::manifest::held_configuration;
use canary_ctl::plan::PreflightCheck;
use canary_ctl::spec::Release;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use wasm_tests::lab::{Stage, StageOptions};
use wasm_tests::scenario::{Faults, Sessions};

/// More writes than a rotation makes.
const ENOUGH: u32 = 40;
const PEOPLE: usize = 150;

#[test]
fn no_session_moves_while_a_new_key_takes_over_and_the_old_one_stays_until_its_seals_have_aged() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "rotated", &StageOptions::gateway()).await.unwrap();
        let people = || (0..PEOPLE).map(|_| stage.user()).collect::<Vec<_>>();
        let release = stage
            .release()
            .unwrap()
            .with("/spec/podAffinity", "identity")
            .with("/spec/maxStep", "100")
            .with("/spec/weight", "50");
        let operator = Operator::new(lab, &release);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        let (mut old, mut new) = (Sessions::default(), Sessions::default());
        assert_eq!(old.begin(people()).await.1, Faults::default());

        operator
            .is_told("rotate-keys --dry-run=client", 0, &["k2 signs, k1 verifies", "nothing written"])
            .await;
        operator.is_told("rotate-keys --retire", 0, &["k1 signs\n"]).await;
        let moving = old.set_out(PEOPLE / 2);
        operator.is_told("rotate-keys", 0, &["k2 signs, k1 verifies (generation 4)", "--retire"]).await;
        assert_eq!(old.settle(moving).await.expect("they come back"), Faults::default());
        assert_eq!(old.come_back(true).await, Faults::default(), "sealed by the old key");
        assert_eq!(new.begin(people()).await.1, Faults::default(), "sealed by the new one");

        operator.is_told("rotate-keys --retire", 2, &["what k1 signed counts until", "moves-users"]).await;
        operator
            .is_told("rotate-keys --retire --skip-check moves-users", 0, &["k2 signs (generation 5)"])
            .await;
        assert_eq!(new.come_back(true).await, Faults::default(), "the new key's seals count");
        assert_ne!(
            old.come_back(false).await.strayed,
            [] as [String; 0],
            "the old one's do not: that is what it waits for"
        );
    });
}

#[test]
fn a_rotation_that_was_killed_after_any_write_leaves_no_gateway_without_a_key_that_signs() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "half-rotated").await;
        let gateway = |namespace: &str| json!({"name": format!("{namespace}/gateway"), "selector": {"istio": "gateway"}});
        let gateways = json!([gateway("half-rotated-ingress"), gateway("half-rotated")]);
        let release = Desk::read(&desk.document("shop").with("/spec/gateways", gateways));
        let cluster = desk.cluster().await;
        let mut points = 0;
        for writes in 0..ENOUGH {
            apply(&cluster, &release).await.unwrap();
            let stopping = WriteOptions { at_most: Some(writes), patience: BRIEF, ..WriteOptions::default() };
            match rotate(&desk.cluster_that(stopping).await, &release).await {
                Err(Error::Stopped { .. }) => points += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
            every_gateway_knows_what_others_sign(&desk, writes).await;
            continued(&cluster, &release, writes).await;
            every_gateway_knows_what_others_sign(&desk, writes).await;
            let signer = signer(&cluster, &release).await;
            assert_eq!(signer, "k2", "continued, not begun again, after {writes} writes");
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "after {writes} writes");
            uninstall(&cluster, &release).await.unwrap();
            for namespace in ["half-rotated", "half-rotated-ingress"] {
                lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", namespace]).await.unwrap();
            }
        }
        // For each of the two steps: two Secrets; a Lease, the record, two Leases, two configurations, and three Leases back.
        assert_eq!(points, 22, "a kill at each write");
    });
}

#[test]
fn a_neighbour_whose_pins_live_longer_keeps_the_old_key_longer() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "outlived").await;
        let cluster = desk.cluster().await;
        let shop = desk.release("shop");
        apply(&cluster, &shop).await.unwrap();
        let alone = rotate(&cluster, &shop).await.unwrap().retire_from.expect("an old key is left");
        // It has the same gateway, and so the same keys.
        apply(&cluster, &Desk::read(&desk.document("blog").with("/spec/session/maxAge", "240h")))
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
    // The keys may be where they belong, and not in the proxies yet: then `apply` is asked for.
    if let Err(error) = rotate(cluster, release).await {
        assert!(matches!(error, Error::Protected { .. }), "after {writes} writes: {error:?}");
        apply(cluster, release).await.unwrap();
    }
}

/// The key that signs by the Secrets, at the later of their steps.
async fn signer(cluster: &Cluster, release: &Release) -> String {
    let rehearsed = cluster.dry_run_rotation(release, true, &[PreflightCheck::MovesUsers]).await.unwrap();
    rehearsed.ring.signer().unwrap().id.clone()
}

async fn rotate(cluster: &Cluster, release: &Release) -> Result<Rotated, Error> {
    let waiting = WaitOptions { patience: Duration::from_secs(5), progress: &mut |_, _| {} };
    cluster.rotate_keys(release, RotateOptions { waiting, skipped: &[PreflightCheck::NoReadyPods] }).await
}

async fn every_gateway_knows_what_others_sign(desk: &Desk<'_>, writes: u32) {
    let objects = desk.objects().await;
    let held = objects.iter().filter(|object| object["kind"] == "EnvoyFilter");
    let rings: Vec<_> =
        held.filter_map(|object| held_configuration(object).unwrap()).map(|config| config.keys).collect();
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
