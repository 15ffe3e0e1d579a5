//! The rollout of a front end whose API is in the same train: at its end the API is promoted first.

use super::receiver::{Receiver, TestSender};
use super::{Canary, INTERVAL, RolloutFixture, observe, rollout, stable};
use crate::train_roles::{TRAIN, called, of_another_team};
use canary_operations::{Error, RolloutDriver};
use canary_release::alert::RolloutResult;
use canary_release::record::{Operation, Record};
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase};
use canary_release::spec::Release;
use fake_api_server::fixture::{SHOP, apply, pod, release, roll_back, run};
use serde_json::{Value, json};
use std::time::Duration;

/// More writes than a promotion of both makes.
const MANY: u32 = 30;
/// For proxies that do not get what they wait for.
const SHORT: Duration = Duration::from_millis(50);

/// The rollout of the shop, and the API that its pods call.
async fn train() -> (RolloutFixture, Release) {
    train_with(&json!({})).await
}

async fn train_with(changes: &Value) -> (RolloutFixture, Release) {
    let web = release(&json!({"train": TRAIN, "rollout": rollout(changes)}));
    let fixture = Box::pin(RolloutFixture::started_as(Canary::Good, &web)).await;
    let called = called(&fixture.api, &json!({}));
    apply(&fixture.cluster, &called).await.unwrap();
    (fixture, called)
}

impl RolloutFixture {
    async fn record_of(&self, release: &Release) -> Record {
        self.cluster.get_record(&release.name).await.unwrap().record
    }
}

#[test]
fn a_rollout_of_a_train_promotes_what_its_release_calls_before_it() {
    run(async {
        let (mut fixture, api) = train().await;
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        let (api, web) = (fixture.record_of(&api).await, fixture.record().await);
        assert_eq!([stable(&api), stable(&web)], ["v2", "v2"]);
        let (api, web) = (api.role_change.unwrap(), web.role_change.unwrap());
        assert!(api.at < web.at, "{api} before {web}");
        assert_eq!(api.train_round, web.train_round);
    });
}

#[test]
fn a_rollout_neither_observes_nor_promotes_a_train_of_another_team_with_the_same_name() {
    run(async {
        let (mut fixture, _) = train().await;
        let other = of_another_team(&fixture.api);
        apply(&fixture.cluster, &other).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_eq!(stable(&fixture.record_of(&other).await), "v1");
        let observed = fixture.record().await.rollout.unwrap().train;
        assert!(!observed.contains_key(&other.name), "{observed:?}");
    });
}

#[test]
fn a_release_of_the_train_that_cannot_be_promoted_holds_the_rollout_and_is_named_until_it_can() {
    run(async {
        let (mut fixture, api) = train().await;
        fixture.api.state().store.remove("Pod", "api-v2");
        let report = observe(&mut fixture, 40).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert!(
            report.decision.reason.contains("shop/api: version `v2` has no pod"),
            "{}",
            report.decision.reason
        );
        assert_eq!([stable(&fixture.record_of(&api).await), stable(&fixture.record().await)], ["v1", "v1"]);
        let canary = pod(SHOP, "api-v2", &json!({"app": "api", "version": "v2"}));
        fixture.api.state().create(&canary);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted), "another driver goes on");
    });
}

#[test]
fn a_rollout_is_held_where_the_canary_of_the_api_was_rolled_back() {
    run(async {
        let (mut fixture, api) = train().await;
        roll_back(&fixture.cluster, &api).await.unwrap();
        let report = observe(&mut fixture, 40).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        let expected = "expected a canary of shop/api, or its promotion";
        assert!(report.decision.reason.contains(expected), "{}", report.decision.reason);
        assert_eq!(stable(&fixture.record().await), "v1");
    });
}

/// Drives the rollout until it is decided that it ends by a promotion.
async fn drive_to_promotion(fixture: &mut RolloutFixture) {
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    let promote = RolloutAction::Decide(Ending::Promote);
    while driver.reconcile(fixture.now).await.unwrap().decision.action != promote {
        fixture.pass().await;
    }
}

#[test]
fn the_promotion_at_the_end_of_a_rollout_is_continued_by_another_driver_after_any_write() {
    run(async {
        let mut halves = 0;
        for writes in 0..MANY {
            let (mut fixture, api) = train().await;
            drive_to_promotion(&mut fixture).await;
            let driven = fixture.api.killed_after(writes, async |process| {
                fixture.driver(process).reconcile(fixture.now).await.unwrap();
            });
            let is_killed = Box::pin(driven).await.is_none();
            let context = format!("killed after {writes} writes");
            let (called, web) = (fixture.record_of(&api).await, fixture.record().await);
            assert!(
                stable(&called) == "v2" || stable(&web) == "v1",
                "{context}: a caller without what it calls"
            );
            halves += usize::from(stable(&called) != stable(&web));
            let report = fixture.drive().await;
            assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{context}: {:?}", report.decision);
            let (called, web) = (fixture.record_of(&api).await, fixture.record().await);
            assert_eq!([stable(&called), stable(&web)], ["v2", "v2"], "{context}");
            let promotions =
                called.history.entries().iter().filter(|entry| entry.operation == Operation::Promote);
            assert_eq!(promotions.count(), 1, "{context}: {:?}", called.history);
            if !is_killed {
                assert!(writes >= 10 && halves >= 4, "{context}, {halves} times between both");
                return;
            }
        }
        panic!("more than {MANY} writes");
    });
}

/// From the write of this record on nothing reaches the proxies.
fn stop_istiod_at(fixture: &RolloutFixture, record: &'static str) {
    fixture.api.before_write(move |state, line| {
        if line.contains(record) {
            state.proxies.stop_istiod();
        }
    });
}

#[test]
fn an_api_whose_promotion_is_late_in_the_proxies_holds_the_front_end_and_is_told_once() {
    run(async {
        let receiver = Receiver::start().await;
        let sender = TestSender::to(&[("team", &receiver)]);
        let team = json!([{"name": "team", "type": "webhook", "url": "http://a/"}]);
        let (mut fixture, api) = train_with(&json!({"stalledAfter": "5m", "alerts": team})).await;
        drive_to_promotion(&mut fixture).await;
        stop_istiod_at(&fixture, "/configmaps/api-canary");
        let cluster = fixture.api.cluster().await;
        for _ in 0..14 {
            // Another process each time.
            let driver = RolloutDriver::new(&cluster, fixture.release.name.clone(), SHORT);
            let mut driver = driver.with_alerts(sender.clone());
            let late = driver.reconcile(fixture.now).await.unwrap_err();
            let Error::InTrain { release, source } = &late else { panic!("{late:?}") };
            assert_eq!(release, "shop/api");
            assert!(matches!(**source, Error::Late { .. }), "{late:?}");
            driver.settle_alerts().await;
            driver.deliver_alerts(fixture.now).await.unwrap();
            driver.settle_alerts().await;
            fixture.now += INTERVAL;
        }
        assert_eq!([stable(&fixture.record_of(&api).await), stable(&fixture.record().await)], ["v2", "v1"]);
        assert_eq!(receiver.kinds(), ["started", "step", "step", "step", "stalled"]);
    });
}

#[test]
fn a_front_end_whose_promotion_is_late_in_the_proxies_has_not_ended_its_rollout() {
    run(async {
        let (mut fixture, api) = train().await;
        drive_to_promotion(&mut fixture).await;
        stop_istiod_at(&fixture, "/configmaps/shop-canary");
        let cluster = fixture.api.cluster().await;
        let mut driver = RolloutDriver::new(&cluster, fixture.release.name.clone(), SHORT);
        let late = driver.reconcile(fixture.now).await;
        assert!(matches!(late, Err(Error::Late { .. })), "{late:?}");
        assert_eq!([stable(&fixture.record_of(&api).await), stable(&fixture.record().await)], ["v2", "v2"]);
    });
}
