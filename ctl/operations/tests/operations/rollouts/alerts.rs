//! Alerts: each transition reaches its receivers under one id, whoever is killed, and no receiver stops a rollout.

use super::receiver::{Receiver, SECRET, TestSender};
use super::{Canary, INTERVAL, MANY, MANY_WRITES, RolloutFixture, ended_of, rollout};
use canary_operations::{AlertSender, Cluster, RolloutDriver};
use canary_release::alert::RolloutResult;
use canary_release::rollout::RolloutVerb;
use fake_api_server::fixture::{SHOP, release, run, set_weight};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROMOTED: [&str; 5] = ["started", "step", "step", "step", "promoted"];
const ROLLED_BACK: [&str; 4] = ["started", "step", "failed", "rolledBack"];
/// For a receiver that never answers.
const SHORT: Duration = Duration::from_millis(200);
/// Longer than the backoff of any attempt.
const LONG: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);

/// A rollout whose receivers are given by the names of their URLs.
async fn started(canary: Canary, receivers: &[&str]) -> RolloutFixture {
    let receivers = receivers.iter().map(|name| json!({"name": name, "type": "webhook", "url": "http://a/"}));
    started_with(canary, &receivers.collect()).await
}

async fn started_with(canary: Canary, receivers: &Value) -> RolloutFixture {
    let rollout = rollout(&json!({"alerts": receivers}));
    RolloutFixture::started_as(canary, &release(&json!({"rollout": rollout}))).await
}

fn driver<'c>(
    fixture: &RolloutFixture,
    cluster: &'c Cluster,
    sender: &Arc<dyn AlertSender>,
) -> RolloutDriver<'c> {
    fixture.driver(cluster).with_alerts(Arc::clone(sender))
}

/// Drives the rollout to its end with one driver, and sends what is left.
async fn drive(fixture: &mut RolloutFixture, sender: &Arc<dyn AlertSender>) -> Option<RolloutResult> {
    let cluster = fixture.api.cluster().await;
    let mut driver = driver(fixture, &cluster, sender);
    let ended = reconcile(fixture, &mut driver).await;
    deliver(fixture, &mut driver).await;
    ended
}

/// Drives the rollout to its end.
async fn reconcile(fixture: &mut RolloutFixture, driver: &mut RolloutDriver<'_>) -> Option<RolloutResult> {
    for _ in 0..MANY {
        let ended = driver.reconcile(fixture.now).await.unwrap().ended();
        if ended.is_some() {
            return ended;
        }
        fixture.pass().await;
    }
    None
}

/// Sends what is left until it is delivered or given up.
async fn deliver(fixture: &mut RolloutFixture, driver: &mut RolloutDriver<'_>) {
    for _ in 0..MANY {
        driver.settle_alerts().await;
        if driver.deliver_alerts(fixture.now).await.unwrap() == 0 {
            return;
        }
        fixture.now += LONG;
    }
    panic!("alerts are left: {:?}", fixture.record().await.alerts);
}

fn expected(canary: Canary) -> &'static [&'static str] {
    if canary == Canary::Good { &PROMOTED } else { &ROLLED_BACK }
}

/// Of a canary that fails a driver that is killed may miss an interval of the first step: then the second begins before it is enough.
fn with_one_step(mut kinds: Vec<String>, canary: Canary) -> Vec<String> {
    if canary == Canary::Failing {
        kinds.dedup();
    }
    kinds
}

#[test]
fn a_receiver_gets_each_transition_once_with_the_numbers_of_both_versions() {
    run(async {
        for canary in [Canary::Good, Canary::Failing] {
            let receiver = Receiver::start().await;
            let mut fixture = started(canary, &["team"]).await;
            drive(&mut fixture, &TestSender::to(&[("team", &receiver)])).await;
            assert_eq!(receiver.kinds(), expected(canary), "{canary:?}");
            assert!(receiver.by_id().values().all(|(_, times)| *times == 1), "{:?}", receiver.by_id());
            assert!(fixture.record().await.alerts.is_empty(), "everybody has everything");
        }
        let receiver = Receiver::start().await;
        let mut fixture = started(Canary::Failing, &["team"]).await;
        drive(&mut fixture, &TestSender::to(&[("team", &receiver)])).await;
        let failed = &receiver.received()[2];
        assert_eq!(
            failed["counts"][0],
            json!({"kind": "serverErrors",
                "canary": {"userGroups": 16, "responses": 2560, "failed": 128},
                "stable": {"userGroups": 16, "responses": 12800, "failed": 0}})
        );
        let reason = failed["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("5xx: canary 5.00% of 2560")
                && reason.ends_with("; the canary is rolled back")
        );
    });
}

/// Drives a rollout in a process that is killed after so many writes, and then in another one. `None` if it was not killed.
async fn killed_and_continued(canary: Canary, writes: u32) -> Option<(RolloutFixture, Receiver)> {
    let receiver = Receiver::start().await;
    let sender = TestSender::to(&[("team", &receiver)]);
    let mut fixture = started(canary, &["team"]).await;
    let api = fixture.api.clone();
    let killed = api.killed_after(writes, async |process| {
        let mut driver = driver(&fixture, process, &sender);
        for _ in 0..MANY {
            // The write of an Event may have killed the process, beside this one.
            let Ok(report) = driver.reconcile(fixture.now).await else { return pending().await };
            if report.ended().is_some() {
                break;
            }
            fixture.pass().await;
        }
        driver.settle_alerts().await;
        if driver.deliver_alerts(fixture.now).await.is_err() {
            pending::<()>().await;
        }
    });
    if killed.await.is_some() {
        return None;
    }
    drive(&mut fixture, &sender).await;
    Some((fixture, receiver))
}

#[test]
fn killed_after_any_write_no_transition_is_forgotten_and_none_has_two_ids() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let (mut cases, mut twice) = (0, 0);
            for writes in 0..MANY_WRITES {
                let Some((fixture, receiver)) = killed_and_continued(canary, writes).await else { break };
                let context = format!("{canary:?}, killed after {writes} writes");
                assert_eq!(with_one_step(receiver.kinds(), canary), expected(canary), "{context}");
                let repeated = receiver.by_id().values().filter(|(_, times)| *times > 1).count();
                assert!(repeated <= 2, "{context}: only what was on its way is sent again");
                let record = fixture.record().await;
                assert!(record.alerts.is_empty(), "{context}: {:?}", record.alerts);
                let events = fixture.api.state().store.of_kind("Event").count();
                assert_eq!(events, receiver.by_id().len(), "{context}: each Event is there once");
                cases += 1;
                twice += usize::from(repeated > 0);
            }
            println!("{canary:?}: killed {cases} times, {twice} times something was sent twice");
            assert!((12..MANY_WRITES).contains(&cases), "{canary:?}: killed {cases} times");
        });
    }
}

#[test]
fn a_driver_that_is_killed_at_each_wait_and_started_again_forgets_nothing() {
    run(async {
        let receiver = Receiver::start().await;
        let sender = TestSender::to(&[("team", &receiver)]);
        let mut fixture = started(Canary::Failing, &["team"]).await;
        let cluster = fixture.api.cluster().await;
        for at in 0..MANY {
            let mut driver = driver(&fixture, &cluster, &sender);
            // A baseline and an interval: what one process needs to see that the canary fails.
            for _ in 0..2 + at % 3 {
                driver.reconcile(fixture.now).await.unwrap();
                fixture.pass().await;
            }
            // Half of them are killed while requests are on their way.
            if at % 2 == 0 {
                driver.settle_alerts().await;
            }
        }
        let mut last = driver(&fixture, &cluster, &sender);
        assert_eq!(last.reconcile(fixture.now).await.unwrap().ended(), Some(RolloutResult::RolledBack));
        deliver(&mut fixture, &mut last).await;
        assert_eq!(with_one_step(receiver.kinds(), Canary::Failing), ROLLED_BACK);
    });
}

#[test]
fn of_two_drivers_one_sends() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let receiver = Receiver::start().await;
            let sender = TestSender::to(&[("team", &receiver)]);
            let mut fixture = started(canary, &["team"]).await;
            let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
            let mut drivers = clusters.each_ref().map(|cluster| driver(&fixture, cluster, &sender));
            for _ in 0..MANY {
                let now = fixture.now;
                let [first, second] = &mut drivers;
                let (one, other) = tokio::join!(first.reconcile(now), second.reconcile(now));
                // Time that passes here is none on the wall: a request is over before another claim may begin.
                for _ in 0..3 {
                    tokio::join!(first.settle_alerts(), second.settle_alerts());
                    first.deliver_alerts(now).await.unwrap();
                    second.deliver_alerts(now).await.unwrap();
                }
                tokio::join!(first.settle_alerts(), second.settle_alerts());
                if ended_of(one).or(ended_of(other)).is_some() {
                    break;
                }
                fixture.pass().await;
            }
            let [first, _] = &mut drivers;
            deliver(&mut fixture, first).await;
            assert_eq!(with_one_step(receiver.kinds(), canary), expected(canary));
            let all = receiver.by_id();
            assert!(all.values().all(|(_, times)| *times == 1), "{canary:?}: {all:?}");
        });
    }
}

#[test]
fn a_receiver_that_is_down_fails_or_says_nothing_neither_stops_nor_delays_a_rollout() {
    run(async {
        let begun = Instant::now();
        let mut undisturbed = started(Canary::Good, &[]).await;
        let start = undisturbed.now;
        assert_eq!(undisturbed.drive().await.ended(), Some(RolloutResult::Promoted));
        let intervals = (undisturbed.now - start).get_seconds() / INTERVAL.as_secs();
        let without = begun.elapsed();

        let [up, down, failing, silent] = [
            Receiver::start().await,
            Receiver::down().await,
            Receiver::start().await,
            Receiver::start().await,
        ];
        failing.answer(500);
        silent.fall_silent();
        let sender = TestSender::within(
            SHORT,
            &[("up", &up), ("down", &down), ("failing", &failing), ("silent", &silent)],
        );
        let mut fixture = started(Canary::Good, &["down", "failing", "silent", "up"]).await;
        let (start, begun) = (fixture.now, Instant::now());
        let cluster = fixture.api.cluster().await;
        let mut driver = driver(&fixture, &cluster, &sender);
        assert_eq!(reconcile(&mut fixture, &mut driver).await, Some(RolloutResult::Promoted));
        let found = (fixture.now - start).get_seconds() / INTERVAL.as_secs();
        assert_eq!(found, intervals, "as many observations as without receivers");
        assert!(
            begun.elapsed() < without + Duration::from_secs(5),
            "{:?}, {without:?} without",
            begun.elapsed()
        );
        deliver(&mut fixture, &mut driver).await;
        assert_eq!(up.kinds(), PROMOTED, "others do not keep it from its alerts");
        assert_eq!(failing.kinds(), PROMOTED, "each was tried");
        let times = failing.by_id().into_values().map(|(_, times)| times).max().unwrap();
        assert!(times <= 5, "an alert is sent five times at most: {times}");
        let undelivered = fixture.record().await.alerts.undelivered().to_vec();
        assert!(undelivered.iter().any(|alert| alert.to == "down"), "{undelivered:?}");
        assert!(undelivered.iter().all(|alert| alert.to != "up"), "{undelivered:?}");
        let told = driver.failed_deliveries();
        assert!(
            told.iter().any(|failed| failed.to_string().ends_with("to failing: 500 Internal Server Error"))
        );
    });
}

#[test]
fn what_a_receiver_refuses_for_good_is_sent_once_and_the_record_says_why() {
    run(async {
        let gone = Receiver::start().await;
        gone.answer(404);
        let mut fixture = started(Canary::Failing, &["gone"]).await;
        drive(&mut fixture, &TestSender::to(&[("gone", &gone)])).await;
        assert!(gone.by_id().values().all(|(_, times)| *times == 1), "{:?}", gone.by_id());
        let undelivered = fixture.record().await.alerts.undelivered().to_vec();
        assert_eq!(undelivered.len(), ROLLED_BACK.len());
        assert!(undelivered[0].to_string().ends_with("did not reach gone: 404 Not Found"), "{undelivered:?}");
    });
}

#[test]
fn a_url_may_stand_in_a_secret_and_no_url_is_in_the_record() {
    run(async {
        let receiver = Receiver::start().await;
        let secret = json!({"secret": {"name": "canary-alerts", "key": "ops"}});
        let receivers = json!([
            {"name": "ops", "type": "webhook", "urlFrom": secret},
            {"name": "inline", "type": "webhook", "url": receiver.url().expose(), "severity": "error"},
        ]);
        let mut fixture = started_with(Canary::Failing, &receivers).await;
        let sender = TestSender::of_file(&fixture.release);
        let cluster = fixture.api.cluster().await;
        let mut driver = driver(&fixture, &cluster, &sender);
        driver.reconcile(fixture.now).await.unwrap();
        driver.settle_alerts().await;
        driver.deliver_alerts(fixture.now).await.unwrap();
        let failed = driver.failed_deliveries();
        let missing = "expected key `ops` of Secret `canary-alerts` in namespace `shop`, found none";
        assert_eq!(failed[0].error.reason, missing, "{failed:?}");
        create_secret(&fixture, "canary-alerts", "ops", receiver.url().expose());
        drop(driver);
        drive(&mut fixture, &sender).await;
        let record = fixture.record().await;
        let text = format!("{} {record:?} {failed:?}", record.to_json().unwrap());
        assert!(!text.contains(SECRET), "{text}");
        let kinds: Vec<Value> = receiver.received().into_iter().map(|alert| alert["type"].clone()).collect();
        let failed = kinds.iter().filter(|kind| **kind == "failed").count();
        assert_eq!(failed, 2, "to both: {kinds:?}");
    });
}

/// A Secret beside the release with one key.
pub(super) fn create_secret(fixture: &RolloutFixture, name: &str, key: &str, text: &str) {
    let data = k8s_openapi::ByteString(text.as_bytes().to_vec());
    fixture.api.state().create(&json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "namespace": SHOP}, "data": {key: data}}));
}

#[test]
fn the_record_has_an_event_of_each_transition() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Failing).await;
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        assert_eq!(reconcile(&mut fixture, &mut driver).await, Some(RolloutResult::RolledBack));
        deliver(&mut fixture, &mut driver).await;
        let state = fixture.api.state();
        let uid = state.store.find("ConfigMap", "shop-canary").unwrap()["metadata"]["uid"].clone();
        let text = |event: &Value| {
            format!("{} {}", event["type"].as_str().unwrap(), event["reason"].as_str().unwrap())
        };
        let events: Vec<String> = state.store.of_kind("Event").map(text).collect();
        let expected = [
            "Normal RolloutStarted",
            "Normal RolloutStep",
            "Warning RolloutFailed",
            "Warning RolloutRolledBack",
        ];
        assert_eq!(events, expected);
        for event in state.store.of_kind("Event") {
            assert_eq!(
                (&event["regarding"]["name"], &event["regarding"]["uid"]),
                (&json!("shop-canary"), &uid)
            );
        }
    });
}

#[test]
fn a_driver_that_may_write_no_events_says_so_once_and_goes_on() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        fixture.api.state().access.deny("create", "events");
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        assert_eq!(reconcile(&mut fixture, &mut driver).await, Some(RolloutResult::Promoted));
        deliver(&mut fixture, &mut driver).await;
        let told = driver.failed_deliveries();
        let reasons: Vec<&str> = told.iter().map(|failed| failed.error.reason.as_str()).collect();
        assert_eq!(reasons, ["not allowed to create events in namespace `shop`"]);
        assert!(fixture.record().await.alerts.is_empty(), "they are no alerts that somebody misses");
        assert_eq!(fixture.cluster.missing_rights(&fixture.release).await.unwrap(), [], "nothing needs it");
    });
}

#[test]
fn what_people_did_while_no_driver_was_there_is_sent_by_the_next_one() {
    run(async {
        let receiver = Receiver::start().await;
        let sender = TestSender::to(&[("team", &receiver)]);
        let mut fixture = started(Canary::Good, &["team"]).await;
        set_weight(&fixture.cluster, &fixture.release, "5").await.unwrap();
        fixture.ask(RolloutVerb::Abort).await.unwrap();
        // No driver has been there until now.
        let cluster = fixture.api.cluster().await;
        let mut driver = driver(&fixture, &cluster, &sender);
        deliver(&mut fixture, &mut driver).await;
        assert_eq!(receiver.kinds(), ["started", "suspended", "aborted"]);
    });
}
