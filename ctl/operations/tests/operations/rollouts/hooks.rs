//! Hooks: real requests to a receiver on the loopback interface. The canary is good in each of these rollouts.

use super::receiver::{Receiver, SECRET, TestHooks};
use super::{Canary, INTERVAL, MANY, MANY_WRITES, RolloutFixture, assert_is_over, ended_of};
use canary_operations::{Cluster, RolloutDriver, RolloutReport};
use canary_release::alert::RolloutResult;
use canary_release::rollout::{RolloutAction, RolloutPhase};
use fake_api_server::fixture::run;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A rollout with hooks of these types, each of them named as its type.
async fn started(types: &[&str]) -> RolloutFixture {
    let hook = |kind: &&str| json!({"name": kind, "type": kind, "url": "http://hooks/"});
    let hooks: Vec<Value> = types.iter().map(hook).collect();
    RolloutFixture::started_with(Canary::Good, &json!({"hooks": hooks})).await
}

fn driver<'c>(fixture: &RolloutFixture, cluster: &'c Cluster, hooks: &Arc<TestHooks>) -> RolloutDriver<'c> {
    fixture.driver(cluster).with_hooks(Arc::clone(hooks) as Arc<_>)
}

/// One driver while time passes, until the rollout has ended or so often.
async fn drive(fixture: &mut RolloutFixture, hooks: &Arc<TestHooks>, times: usize) -> RolloutReport {
    let cluster = fixture.api.cluster().await;
    let mut driver = driver(fixture, &cluster, hooks);
    let mut report = driver.reconcile(fixture.now).await.unwrap();
    for _ in 1..times {
        if report.ended().is_some() {
            break;
        }
        hooks.settle().await;
        fixture.pass().await;
        report = driver.reconcile(fixture.now).await.unwrap();
    }
    hooks.settle().await;
    driver.settle_alerts().await;
    driver.deliver_alerts(fixture.now).await.unwrap();
    driver.settle_alerts().await;
    report
}

#[test]
fn a_rollout_waits_for_each_gate_and_tells_its_end_to_flaggers_receivers() {
    run(async {
        let mut fixture =
            started(&["confirm-rollout", "pre-rollout", "rollout", "post-rollout", "event"]).await;
        let receivers = [Receiver::start().await, Receiver::start().await, Receiver::start().await];
        let [gate, tester, told] = &receivers;
        let hooks = TestHooks::to(&[
            ("confirm-rollout", gate),
            ("pre-rollout", tester),
            ("rollout", tester),
            ("post-rollout", told),
            ("event", told),
        ]);
        gate.answer(403);
        let report = drive(&mut fixture, &hooks, 10).await;
        assert_eq!(
            (report.decision.phase, report.decision.action),
            (RolloutPhase::Waiting, RolloutAction::Wait)
        );
        assert_eq!(report.decision.reason, "hook `confirm-rollout` (confirm-rollout): closed: 403 Forbidden");
        assert_eq!((fixture.weights.as_slice(), tester.received()), (&["0%".to_owned()][..], vec![]));
        let first = &gate.received()[0];
        let metadata = json!({"cmd": format!("hey --secret {SECRET}"), "hook": "confirm-rollout"});
        let checksum = &first["checksum"];
        let expected = json!({"name": "shop", "namespace": "shop", "phase": "Progressing", "checksum": checksum, "metadata": metadata});
        assert_eq!(*first, expected);

        gate.answer(200);
        let report = drive(&mut fixture, &hooks, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        assert_eq!(fixture.weights, ["0%", "1%", "10%", "50%", "0%"], "promoted, it is stable");
        assert_is_over(&fixture, "promoted").await;
        assert!(tester.received().len() >= 4, "a test before the first weight, and a check in each step");

        let phases = |of: &[Value]| {
            of.iter().map(|call| call["phase"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (events, ends): (Vec<Value>, Vec<Value>) =
            told.received().into_iter().partition(|call| call["metadata"]["eventMessage"].is_string());
        assert_eq!(phases(&ends), ["Succeeded"]);
        let expected = ["Progressing", "Waiting", "Progressing", "Progressing", "Progressing", "Succeeded"];
        assert_eq!(phases(&events), expected, "started, gate, three steps, promoted");
        let ids: BTreeSet<String> = hooks.ids().into_iter().collect();
        assert_eq!((ids.len(), hooks.ids().len()), (6, 7), "the end is told both under one id");
        let kept = serde_json::to_string(&fixture.record().await.to_json().unwrap()).unwrap();
        assert!(
            !kept.contains(SECRET) && !kept.contains("hey"),
            "a record has neither addresses nor commands"
        );
    });
}

#[test]
fn a_check_that_fails_rolls_back_and_one_that_is_away_does_not() {
    run(async {
        let tester = Receiver::start().await;
        let mut fixture = started(&["rollout"]).await;
        tester.answer(500);
        let report = drive(&mut fixture, &TestHooks::to(&[("rollout", &tester)]), MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let reason = &report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason;
        assert_eq!(
            reason,
            "hook `rollout` (rollout): failed, 3 of 3 times in a row: 500 Internal Server Error"
        );
        assert_eq!(
            (fixture.weights.as_slice(), tester.received().len()),
            (&["1%", "0%"].map(str::to_owned)[..], 3)
        );

        let mut fixture = started(&["rollout"]).await;
        let away = Receiver::down().await;
        let report = drive(&mut fixture, &TestHooks::to(&[("rollout", &away)]), 40).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert!(
            report.decision.reason.contains("no response, 3 of 3 times in a row"),
            "{:?}",
            report.decision
        );
        assert!(!report.decision.reason.contains(SECRET), "{:?}", report.decision);
        assert_eq!(fixture.weights, ["1%"], "the weight stays");
        tester.answer(202);
        let report = drive(&mut fixture, &TestHooks::to(&[("rollout", &tester)]), MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
    });
}

#[test]
fn a_receiver_that_is_silent_delays_no_observation() {
    run(async {
        let mut fixture = started(&["rollout"]).await;
        let silent = Receiver::start().await;
        silent.fall_silent();
        let hooks = TestHooks::to(&[("rollout", &silent)]);
        let cluster = fixture.api.cluster().await;
        let mut driver = driver(&fixture, &cluster, &hooks);
        let begun = Instant::now();
        for _ in 0..6 {
            driver.reconcile(fixture.now).await.unwrap();
            fixture.pass().await;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}: no response comes within 20 s",
            begun.elapsed()
        );
        let report = driver.reconcile(fixture.now).await.unwrap();
        assert!(report.record.rollout.as_ref().unwrap().evidence.intervals >= 4, "users are observed");
        assert_eq!(report.decision.reason, "hook `rollout` (rollout): no response yet");
        assert_eq!(silent.received().len(), 1, "no second call while one is made");
    });
}

#[test]
fn a_driver_without_an_http_client_waits_and_says_that_it_has_none() {
    run(async {
        let mut fixture = started(&["confirm-rollout"]).await;
        let report = super::observe(&mut fixture, 10).await;
        assert_eq!(report.decision.phase, RolloutPhase::Waiting);
        let expected = "hook `confirm-rollout` (confirm-rollout): no response yet; this driver has no HTTP client for hooks";
        assert_eq!(report.decision.reason, expected);
        assert_eq!(fixture.weights, ["0%"]);
        let hooks = TestHooks::to(&[("confirm-rollout", &Receiver::start().await)]);
        let report = drive(&mut fixture, &hooks, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "one that has one goes on");
    });
}

#[test]
fn a_test_that_has_passed_is_not_made_again_while_a_check_of_the_release_holds_the_rollout() {
    run(async {
        let mut fixture = started(&["pre-rollout", "rollback"]).await;
        fixture.api.state().store.remove("Pod", "shop-v2");
        let (tester, undo) = (Receiver::start().await, Receiver::start().await);
        undo.answer(403);
        let hooks = TestHooks::to(&[("pre-rollout", &tester), ("rollback", &undo)]);
        let report = drive(&mut fixture, &hooks, 8).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert!(report.decision.reason.contains("version `v2` has no pod"), "{:?}", report.decision);
        assert_eq!(tester.received().len(), 1);
        assert!(undo.received().len() >= 3, "a rollback can be asked for meanwhile");
        undo.answer(200);
        let report = drive(&mut fixture, &hooks, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
    });
}

const GATES: [&str; 5] =
    ["confirm-rollout", "pre-rollout", "confirm-traffic-increase", "confirm-promotion", "post-rollout"];

/// The names of the hooks that were called.
fn asked(receiver: &Receiver) -> BTreeSet<String> {
    let name = |call: &Value| call["metadata"]["hook"].as_str().unwrap().to_owned();
    receiver.received().iter().map(name).collect()
}

/// Drives a rollout in a process that is killed after so many writes, and then in another one. `None` if it was not killed.
async fn killed_and_continued(writes: u32) -> Option<(RolloutFixture, Receiver)> {
    let receiver = Receiver::start().await;
    let hooks = TestHooks::to(&GATES.map(|name| (name, &receiver)));
    let mut fixture = started(&GATES).await;
    let api = fixture.api.clone();
    let killed = api.killed_after(writes, async |process| {
        let mut driver = driver(&fixture, process, &hooks);
        for _ in 0..MANY {
            // The write of an Event may have killed the process, beside this one.
            let Ok(report) = driver.reconcile(fixture.now).await else { return std::future::pending().await };
            if report.ended().is_some() {
                driver.settle_alerts().await;
                break;
            }
            hooks.settle().await;
            fixture.pass().await;
        }
    });
    if killed.await.is_some() {
        return None;
    }
    fixture.now += INTERVAL;
    let report = drive(&mut fixture, &hooks, MANY).await;
    assert_eq!(report.ended(), Some(RolloutResult::Promoted), "killed after {writes}: {:?}", report.decision);
    Some((fixture, receiver))
}

#[test]
fn killed_after_any_write_the_next_driver_asks_what_is_left_and_takes_each_step_once() {
    run(async {
        let mut cases = 0;
        for writes in 0..MANY_WRITES {
            let Some((mut fixture, receiver)) = Box::pin(killed_and_continued(writes)).await else { break };
            let context = format!("killed after {writes} writes");
            assert_is_over(&fixture, &context).await;
            fixture.weights.retain(|weight| weight != "0%");
            assert_eq!(
                fixture.weights,
                ["1%", "10%", "50%"],
                "{context}: no step twice, and none is skipped"
            );
            assert_eq!(asked(&receiver), BTreeSet::from(GATES.map(str::to_owned)), "{context}");
            let ends = receiver.received().iter().filter(|call| call["phase"] == "Succeeded").count();
            assert!((1..=2).contains(&ends), "{context}: the end was told {ends} times");
            cases += 1;
        }
        assert!((12..MANY_WRITES).contains(&cases), "killed {cases} times");
    });
}

#[test]
fn two_drivers_at_once_take_each_step_once() {
    run(async {
        let receiver = Receiver::start().await;
        let hooks = TestHooks::to(&GATES.map(|name| (name, &receiver)));
        let mut fixture = started(&GATES).await;
        let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
        let mut drivers = clusters.each_ref().map(|cluster| driver(&fixture, cluster, &hooks));
        let mut ended = None;
        for _ in 0..MANY {
            let now = fixture.now;
            let [first, second] = &mut drivers;
            let (first, second) = tokio::join!(first.reconcile(now), second.reconcile(now));
            ended = ended_of(first).or(ended_of(second));
            if ended.is_some() {
                break;
            }
            hooks.settle().await;
            fixture.pass().await;
        }
        assert_eq!(ended, Some(RolloutResult::Promoted));
        fixture.weights.retain(|weight| weight != "0%");
        assert_eq!(fixture.weights, ["1%", "10%", "50%"]);
        assert_eq!(asked(&receiver), BTreeSet::from(GATES.map(str::to_owned)));
        assert_is_over(&fixture, "two drivers").await;
    });
}
