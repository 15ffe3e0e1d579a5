//! Roles that swap behind a real gateway, under load: nobody moves who need not, and nothing fails.

use super::desk::{Verb, turn};
use super::scene::Scene;
use crate::support::{UNDISTURBED, counters, in_the_mesh};
use canary_ctl::cluster::{RollbackOptions, WaitOptions};
use canary_ctl::plan::RollbackTarget;
use std::collections::BTreeSet;
use std::time::Duration;
use wasm_tests::client::load::{Plan, Record, run};
use wasm_tests::envoy::COUNTED_WITHIN;
use wasm_tests::lab::Lab;
use wasm_tests::scenario::{Crowd, Faults, HOST, Sessions};

const SESSIONS: usize = 80;
/// Enough to see one that goes astray.
const NEW: usize = 40;

/// A release of the shop at 50 %.
async fn half<'l>(lab: &'l Lab, name: &str) -> Scene<'l> {
    let scene = Scene::set_up(lab, name, |release| release.with("/spec/podAffinity", "identity")).await;
    scene.apply().await;
    scene.answers(HOST).await;
    scene.weigh("50").await;
    scene
}

async fn turned(scene: &Scene<'_>, verb: Verb) {
    turn(&scene.cluster, &scene.release, verb).await.unwrap();
}

#[test]
fn no_session_moves_and_nothing_fails_through_a_promotion_and_its_rollback() {
    in_the_mesh(async |lab| {
        let scene = half(lab, "promoted").await;
        let undisturbed = counters(lab, &scene.stage, &UNDISTURBED).await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.begin(scene.users(SESSIONS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");
        let name = scene.release.name.to_string();

        for (verb, on_v2, draining) in [(Verb::Promote, NEW as u64, "v1"), (Verb::RollBack, 0, "v2")] {
            let moving = sessions.set_out(SESSIONS / 2);
            turned(&scene, verb).await;
            let record = scene.cluster.get_record(&scene.release.name).await.unwrap().record;
            tokio::time::sleep(COUNTED_WITHIN).await;
            let before = scene.cluster.traffic(&name, &record).await.unwrap();
            assert_eq!(sessions.settle(moving).await.expect("they come back"), Faults::default(), "{verb:?}");
            assert_eq!(sessions.come_back(true).await, Faults::default(), "{verb:?}");
            tokio::time::sleep(COUNTED_WITHIN).await;
            let now = scene.cluster.traffic(&name, &record).await.unwrap().since(&before).of(draining);
            assert!(now.sessions > 0 && now.sessions < now.of, "{verb:?}: the proxies count {now:?}");
            let begun = sessions.begin(scene.users(NEW)).await;
            assert_eq!(begun, (on_v2, Faults::default()), "new sessions after {verb:?}");
        }
        assert_eq!(sessions.come_back(false).await, Faults::default());
        assert_eq!(counters(lab, &scene.stage, &UNDISTURBED).await, undisturbed);
    });
}

#[test]
fn after_a_rollback_everyone_is_on_stable_with_the_next_request_and_only_the_canarys_carts_are_lost() {
    in_the_mesh(async |lab| {
        let scene = half(lab, "rolled-back").await;
        let (users, begun) = run(scene.users(SESSIONS), &Plan::navigate("/cart/add?item=tea", 1)).await;
        let on_canary: BTreeSet<usize> = on("v2", &begun.records);
        assert!((1..SESSIONS).contains(&on_canary.len()), "{} on the canary", on_canary.len());
        let mut resting = scene.user_at(HOST);
        while resting.navigate("/cart/add?item=tea").await.unwrap().header("x-shop-version") != Some("v2") {
            resting = scene.user_at(HOST);
        }

        let crowd = Crowd::start(users, Plan { concurrency: 4, ..Plan::navigate("/cart", 3) });
        turned(&scene, Verb::RollBack).await;
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        assert_eq!(during.closed(), 0);
        let (_, after) = run(users, &Plan::navigate("/cart", 1)).await;
        assert!(after.failures().is_empty(), "{:?}", after.failures().first());
        assert_eq!(after.users_on("v1"), SESSIONS as u64, "everyone is on stable");
        let lost: BTreeSet<usize> =
            during.lost().iter().chain(&after.lost()).map(|record| record.user).collect();
        println!("{} of {SESSIONS} sessions were on the canary, {} lost a cart", on_canary.len(), lost.len());
        assert_eq!(lost, on_canary);

        // The fixed build, under the same label: a pin of its earlier life does not lead there.
        scene.apply_again().await;
        let answer = resting.navigate("/cart").await.unwrap();
        assert_eq!((answer.status, answer.header("x-shop-version")), (200, Some("v1")));
        scene.weigh("100").await;
        assert_eq!(scene.user_at(HOST).navigate("/").await.unwrap().header("x-shop-version"), Some("v2"));
    });
}

#[test]
fn a_version_that_has_drained_leaves_without_a_failed_request_and_keeps_its_pods() {
    in_the_mesh(async |lab| {
        let scene = half(lab, "finished").await;
        let (users, begun) = run(scene.users(SESSIONS), &Plan::navigate("/cart/add?item=tea", 1)).await;
        let on_stable = on("v1", &begun.records);
        assert!((1..SESSIONS).contains(&on_stable.len()), "{} on stable", on_stable.len());
        let crowd = Crowd::start(users, Plan { concurrency: 4, ..Plan::navigate("/cart", 3) });
        turned(&scene, Verb::Promote).await;
        turned(&scene, Verb::Finish).await;
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let (_, after) = run(users, &Plan::navigate("/cart", 1)).await;
        assert_eq!((after.users_on("v2"), after.failures().len()), (SESSIONS as u64, 0));
        let subsets = ["get", "destinationrule", "-n", "finished", "-o", "jsonpath={..subsets[*].name}"];
        assert_eq!(lab.kubectl(&subsets).await.unwrap(), "v2");
        let pods = lab.pods("finished", "app=shop,version=v1").await.unwrap();
        assert!(!pods.is_empty(), "what serves is neither scaled nor deleted");
        let stored = scene.cluster.get_record(&scene.release.name).await.unwrap();
        let refused = stored.record.to_roll_back();
        assert!(matches!(refused, Err(canary_ctl::plan::Error::NoWayBack { .. })), "{refused:?}");
    });
}

/// The users who were answered by a version.
fn on(version: &str, records: &[Record]) -> BTreeSet<usize> {
    let by_it = |record: &&Record| record.seen.version.as_deref() == Some(version);
    records.iter().filter(by_it).map(|record| record.user).collect()
}

/// Ends a promotion's sessions at once, as `rollback --now` does.
#[test]
fn a_promotion_that_is_taken_back_at_once_leaves_nobody_on_the_promoted_version() {
    in_the_mesh(async |lab| {
        let scene = half(lab, "taken-back").await;
        turned(&scene, Verb::Promote).await;
        let (users, _) = run(scene.users(NEW), &Plan::navigate("/cart/add?item=tea", 1)).await;
        let crowd = Crowd::start(users, Plan { concurrency: 4, ..Plan::navigate("/cart", 3) });
        let stored = scene.cluster.get_record(&scene.release.name).await.unwrap();
        let back = stored.record.to_roll_back().unwrap();
        assert_eq!(back, RollbackTarget::Promotion("v2".to_owned()));
        let mut progress = |_, _| {};
        let mut waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut progress };
        let how = RollbackOptions { back: &back, deadline: None };
        scene.cluster.roll_back(&scene.release.name, stored, how, &mut waiting).await.unwrap();
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let (_, after) = run(users, &Plan::navigate("/cart", 1)).await;
        assert_eq!((after.users_on("v1"), after.failures().len()), (NEW as u64, 0));
    });
}
