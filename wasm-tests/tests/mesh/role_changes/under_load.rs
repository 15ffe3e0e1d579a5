//! Role changes behind a real gateway, under load: only the expected users move, and no request fails.

use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::{Verb, turn};
use crate::support::{UNDISTURBED, counters, in_the_mesh};
use browser::load::{LoadProfile, Record, run};
use canary_operations::{RollbackOptions, WaitOptions};
use canary_release::record::RollbackTarget;
use envoy_kit::COUNTED_WITHIN;
use mesh_lab::Lab;
use std::collections::BTreeSet;
use std::time::Duration;
use wasm_tests::scenario::{Crowd, Faults, HOST, Sessions};

const SESSIONS: usize = 80;
/// Enough to detect one on the wrong version.
const NEW: usize = 40;

/// A release of the shop at 50 %.
async fn half<'l>(lab: &'l Lab, name: &str) -> LoadedFixture<'l> {
    let loaded =
        LoadedFixture::set_up(lab, name, |release| release.with("/spec/sessionAffinity", "identity")).await;
    loaded.apply().await;
    loaded.answers(HOST).await;
    loaded.weigh("50").await;
    loaded
}

async fn turned(loaded: &LoadedFixture<'_>, verb: Verb) {
    turn(&loaded.cluster, &loaded.release, verb).await.unwrap();
}

#[test]
fn no_session_moves_and_nothing_fails_through_a_promotion_and_its_rollback() {
    in_the_mesh(async |lab| {
        let loaded = half(lab, "promoted").await;
        let undisturbed = counters(lab, &loaded.env, &UNDISTURBED).await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.open(loaded.users(SESSIONS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");
        let name = loaded.release.name.to_string();

        for (verb, on_v2, draining) in [(Verb::Promote, NEW as u64, "v1"), (Verb::RollBack, 0, "v2")] {
            let moving = sessions.start_load(SESSIONS / 2);
            turned(&loaded, verb).await;
            let record = loaded.cluster.get_record(&loaded.release.name).await.unwrap().record;
            tokio::time::sleep(COUNTED_WITHIN).await;
            let before = loaded.cluster.traffic(&name, &record).await.unwrap();
            assert_eq!(
                sessions.stop_load(moving).await.expect("they come back"),
                Faults::default(),
                "{verb:?}"
            );
            assert_eq!(sessions.verify_all(true).await, Faults::default(), "{verb:?}");
            tokio::time::sleep(COUNTED_WITHIN).await;
            let now = loaded.cluster.traffic(&name, &record).await.unwrap().since(&before).of(draining);
            assert!(now.sessions > 0 && now.sessions < now.of, "{verb:?}: the proxies count {now:?}");
            let begun = sessions.open(loaded.users(NEW)).await;
            assert_eq!(begun, (on_v2, Faults::default()), "new sessions after {verb:?}");
        }
        assert_eq!(sessions.verify_all(false).await, Faults::default());
        assert_eq!(counters(lab, &loaded.env, &UNDISTURBED).await, undisturbed);
    });
}

#[test]
fn after_a_rollback_all_users_are_on_stable_with_the_next_request_and_only_carts_of_the_canary_are_lost() {
    in_the_mesh(async |lab| {
        let loaded = half(lab, "rolled-back").await;
        let (users, begun) =
            run(loaded.users(SESSIONS), &LoadProfile::navigate("/cart/add?item=tea", 1)).await;
        let on_canary: BTreeSet<usize> = on("v2", &begun.records);
        assert!((1..SESSIONS).contains(&on_canary.len()), "{} on the canary", on_canary.len());
        let mut resting = loaded.user_at(HOST);
        while resting.navigate("/cart/add?item=tea").await.unwrap().header("x-shop-version") != Some("v2") {
            resting = loaded.user_at(HOST);
        }

        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/cart", 3) });
        turned(&loaded, Verb::RollBack).await;
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        assert_eq!(during.closed(), 0);
        let (_, after) = run(users, &LoadProfile::navigate("/cart", 1)).await;
        assert!(after.failures().is_empty(), "{:?}", after.failures().first());
        assert_eq!(after.users_on("v1"), SESSIONS as u64, "everyone is on stable");
        let lost: BTreeSet<usize> =
            during.lost().iter().chain(&after.lost()).map(|record| record.user).collect();
        println!("{} of {SESSIONS} sessions were on the canary, {} lost a cart", on_canary.len(), lost.len());
        assert_eq!(lost, on_canary);

        // The fixed build, under the same label: a pin of its earlier life does not lead there.
        loaded.apply_again().await;
        let response = resting.navigate("/cart").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some("v1")));
        loaded.weigh("100").await;
        assert_eq!(loaded.user_at(HOST).navigate("/").await.unwrap().header("x-shop-version"), Some("v2"));
    });
}

#[test]
fn a_version_that_has_drained_leaves_without_a_failed_request_and_keeps_its_pods() {
    in_the_mesh(async |lab| {
        let loaded = half(lab, "finished").await;
        let (users, begun) =
            run(loaded.users(SESSIONS), &LoadProfile::navigate("/cart/add?item=tea", 1)).await;
        let on_stable = on("v1", &begun.records);
        assert!((1..SESSIONS).contains(&on_stable.len()), "{} on stable", on_stable.len());
        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/cart", 3) });
        turned(&loaded, Verb::Promote).await;
        turned(&loaded, Verb::Finish).await;
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let (_, after) = run(users, &LoadProfile::navigate("/cart", 1)).await;
        assert_eq!((after.users_on("v2"), after.failures().len()), (SESSIONS as u64, 0));
        let subsets = ["get", "destinationrule", "-n", "finished", "-o", "jsonpath={..subsets[*].name}"];
        assert_eq!(lab.kubectl(&subsets).await.unwrap(), "v2");
        let pods = lab.pods("finished", "app=shop,version=v1").await.unwrap();
        assert!(!pods.is_empty(), "what serves is neither scaled nor deleted");
        let stored = loaded.cluster.get_record(&loaded.release.name).await.unwrap();
        let refused = stored.record.to_roll_back();
        assert!(matches!(refused, Err(canary_release::record::Error::NoWayBack { .. })), "{refused:?}");
    });
}

/// The users who were answered by a version.
fn on(version: &str, records: &[Record]) -> BTreeSet<usize> {
    let by_it = |record: &&Record| record.seen.version.as_deref() == Some(version);
    records.iter().filter(by_it).map(|record| record.user).collect()
}

/// Ends a promotion's sessions at once, as `rollback --now` does.
#[test]
fn a_promotion_that_is_rolled_back_at_once_leaves_no_user_on_the_promoted_version() {
    in_the_mesh(async |lab| {
        let loaded = half(lab, "taken-back").await;
        turned(&loaded, Verb::Promote).await;
        let (users, _) = run(loaded.users(NEW), &LoadProfile::navigate("/cart/add?item=tea", 1)).await;
        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/cart", 3) });
        let stored = loaded.cluster.get_record(&loaded.release.name).await.unwrap();
        let mut progress = |_, _| {};
        let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut progress };
        let options = RollbackOptions { now: true, drain: None, skipped: &[] };
        let checked = loaded.cluster.check_rollback(&loaded.release.name, stored, options).await.unwrap();
        assert_eq!(*checked.target(), RollbackTarget::Promotion("v2".to_owned()));
        loaded.cluster.roll_back(checked, &mut waiting).await.unwrap();
        let (users, during) = crowd.stop().await.expect("they come back");
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let (_, after) = run(users, &LoadProfile::navigate("/cart", 1)).await;
        assert_eq!((after.users_on("v1"), after.failures().len()), (NEW as u64, 0));
    });
}
