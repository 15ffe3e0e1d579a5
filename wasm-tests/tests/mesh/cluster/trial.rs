//! A new module of the filter that proxies cannot get: users notice nothing, the old one comes back, and no weight waits for it.

use super::desk::{BRIEF, apply};
use super::operator::Operator;
use super::scene::Scene;
use crate::modules::{Module, Web, filter};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, ApplyOptions, Cluster, Error, WaitOptions, WriteOptions};
use canary_ctl::spec::{Release, parse};
use std::path::Path;
use std::time::Duration;
use wasm_tests::lab::sha256;
use wasm_tests::scenario::{Faults, Sessions};

const PEOPLE: usize = 60;
/// More writes than a trial makes.
const ENOUGH: u32 = 20;

#[test]
fn a_module_that_no_proxy_can_get_is_taken_back_and_users_notice_nothing() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "no-module", |release| {
            release.with("/spec/weight", "50").with("/spec/podAffinity", "identity")
        })
        .await;
        let operator = Operator::new(lab, &scene.document);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        let web = Web::start().await;
        let mut people = Sessions::default();
        assert_eq!(people.begin(scene.users(PEOPLE)).await.1, Faults::default());

        let moving = people.set_out(PEOPLE / 2);
        let missing = Module { url: web.url("missing.wasm"), sha256: None };
        // Something else in the same file does not come along.
        let asks = missing.of(&scene.document, "envoyfilter").with("/spec/delivery/debugHeader", "x-debug");
        operator.edits(&asks);
        let url = web.url("missing.wasm");
        operator
            .is_told("apply --wait --timeout 4s", 2, &[&url, "the old one is back", "runs generation"])
            .await;
        assert!(web.missed() > 0, "it was asked for");
        let wrong_sum = Module { url: web.url("filter.wasm"), sha256: Some(sha256(b"another")) };
        operator.edits(&wrong_sum.of(&scene.document, "envoyfilter"));
        operator.is_told("apply --wait --timeout 4s", 2, &["filter.wasm", "the old one is back"]).await;
        operator.is_told("weight 40 --wait", 0, &["50% -> 40%"]).await;
        let status = operator.is_told("status", 0, &["weight 40%"]).await;
        assert!(!status.data.contains("problem:"), "{status:?}");

        let right = Module { url: web.url("filter.wasm"), sha256: Some(sha256(&filter())) };
        operator.edits(&right.of(&scene.document, "envoyfilter").with("/spec/weight", "40"));
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        operator.is_told("diff", 0, &[]).await;
        assert_eq!(people.settle(moving).await.expect("they come back"), Faults::default());
        assert_eq!(people.come_back(true).await, Faults::default());
    });
}

#[test]
fn a_weight_arrives_wherever_a_trial_of_a_bad_module_was_killed() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "killed-trial", |release| release).await;
        scene.apply().await;
        let web = Web::start().await;
        let missing = Module { url: web.url("missing.wasm"), sha256: None };
        let asks = missing.of(&scene.document, "envoyfilter");
        let asks = parse(Path::new("canary.yaml"), &asks.text()).unwrap().release;
        let mut points = 0;
        for writes in 0..ENOUGH {
            let killed = killed_after(&scene, &asks, writes).await;
            let weight = format!("{}", 10 + writes);
            // It waits until every proxy runs it.
            scene.weigh(&weight).await;
            match killed {
                Err(Error::Stopped { .. }) => points += 1,
                Err(Error::NoModule { .. }) => break,
                other => panic!("after {writes} writes: {other:?}"),
            }
        }
        // A Lease, the record, a Lease, the configuration, a Lease back; the same for the way back, and the record again.
        assert_eq!(points, 11, "a kill at each write");
        apply(&scene.cluster, &scene.release).await.unwrap();
        assert!(scene.cluster.plan(&scene.release).await.unwrap().is_empty());
    });
}

/// Applies it as somebody who is gone after so many writes.
async fn killed_after(scene: &Scene<'_>, release: &Release, writes: u32) -> Result<(), Error> {
    let access = Access { kubeconfig: Some(scene.lab.kubeconfig("admin").unwrap()), ..Access::default() };
    let killed = WriteOptions { at_most: Some(writes), patience: BRIEF, ..WriteOptions::default() };
    let cluster = Cluster::connect(&access, killed).await.unwrap();
    let waiting = WaitOptions { patience: Duration::from_secs(1), progress: &mut |_, _| {} };
    let how = ApplyOptions { waiting, wait: true, skipped: &[], again: false };
    cluster.apply(release, how).await.map(drop)
}
