//! What a rollout that waits, or whose step a check refuses, writes into its record. A driver may vanish after each observation, so what only one
//! driver knows is lost.

use super::metrics::{self, FakePrometheus};
use super::receiver::{Receiver, TestSender};
use super::{Canary, INTERVAL, RolloutFixture, observe};
use canary_operations::RolloutDriver;
use canary_release::alert::AlertKind;
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::run;
use serde_json::{Value, json};
use std::sync::Arc;

/// Longer than `stalledAfter`.
const LONG: usize = 14;

async fn started(changes: &Value) -> RolloutFixture {
    let mut changes = changes.clone();
    changes["stalledAfter"] = json!("5m");
    RolloutFixture::started_with(Canary::Good, &changes).await
}

/// Delivers all alerts that there are: what is written afterwards has another reason.
async fn deliver_all(fixture: &RolloutFixture) {
    let mut driver = fixture.driver(&fixture.cluster);
    let mut now = fixture.now;
    while driver.deliver_alerts(now).await.unwrap() > 0 {
        driver.settle_alerts().await;
        // One that another driver has claimed is due later.
        now += INTERVAL;
    }
}

/// So many observations, each by another driver; whether its last one has decided that the rollout fails.
async fn observe_by_others(fixture: &mut RolloutFixture, times: usize) -> bool {
    observe_by_others_with(fixture, times, |driver| driver).await
}

async fn observe_by_others_with(
    fixture: &mut RolloutFixture,
    times: usize,
    with: impl for<'c> Fn(RolloutDriver<'c>) -> RolloutDriver<'c>,
) -> bool {
    for _ in 0..times {
        let cluster = fixture.api.cluster().await;
        with(fixture.driver(&cluster)).reconcile(fixture.now).await.unwrap();
        fixture.pass().await;
    }
    fixture.record().await.rollout.unwrap().ending.is_some()
}

/// How often the record tells that the rollout is stalled.
async fn stalled(fixture: &RolloutFixture) -> usize {
    let record = fixture.record().await;
    record.alerts.pending().iter().filter(|pending| pending.alert.kind == AlertKind::Stalled).count()
}

#[test]
fn a_step_that_a_check_refuses_for_long_is_told_once_whoever_drives() {
    run(async {
        let mut fixture = started(&json!({})).await;
        deliver_all(&fixture).await;
        fixture.api.state().store.remove("Pod", "shop-v2");
        observe_by_others(&mut fixture, 10).await;
        assert_eq!(stalled(&fixture).await, 0, "not in the first five minutes");
        observe_by_others(&mut fixture, LONG).await;
        assert_eq!(stalled(&fixture).await, 1);
        assert_eq!(fixture.record().await.rollout.unwrap().step, None);
    });
}

#[test]
fn a_wait_that_lasts_is_told_once_whoever_drives() {
    run(async {
        let mut fixture = started(&json!({})).await;
        observe(&mut fixture, 1).await;
        deliver_all(&fixture).await;
        fixture.api.state().proxies.silence();
        observe_by_others(&mut fixture, 2 * LONG).await;
        assert_eq!(stalled(&fixture).await, 1);
    });
}

/// What a receiver has got is in the record at the next observation, so that no other driver sends it again.
#[test]
fn what_was_delivered_is_recorded_while_a_rollout_waits_and_while_a_step_is_refused() {
    run(async {
        for is_refused in [false, true] {
            let receiver = Receiver::start().await;
            let team = json!([{"name": "team", "type": "webhook", "url": "http://a/"}]);
            let fixture = started(&json!({"alerts": team})).await;
            if is_refused {
                fixture.api.state().store.remove("Pod", "shop-v2");
            }
            let mut driver =
                fixture.driver(&fixture.cluster).with_alerts(TestSender::to(&[("team", &receiver)]));
            let mut now = fixture.now;
            for _ in 0..if is_refused { 3 } else { 2 } {
                let report = driver.reconcile(now).await.unwrap();
                assert_eq!(report.decision.phase == RolloutPhase::Held, is_refused, "{:?}", report.decision);
                driver.settle_alerts().await;
                now += INTERVAL;
            }
            let sent = receiver.kinds();
            assert_eq!(sent.len(), if is_refused { 1 } else { 2 }, "{sent:?}");
            let record = fixture.record().await;
            assert!(record.alerts.is_empty(), "refused: {is_refused}: {:?}", record.alerts);
        }
    });
}

#[test]
fn measurements_count_though_each_is_made_by_another_driver() {
    run(async {
        let mut fixture = metrics::started().await;
        observe(&mut fixture, 1).await;
        deliver_all(&fixture).await;
        let prometheus = FakePrometheus::with_latency(812.0);
        let queries = fixture.release.rollout.analysis.queries.clone();
        let fails = observe_by_others_with(&mut fixture, 6, |driver| {
            driver.with_metrics(queries.clone(), Some(Arc::clone(&prometheus) as Arc<_>))
        });
        assert!(fails.await, "{:?}", fixture.record().await.rollout);
    });
}

#[test]
fn a_fuse_that_stays_open_ends_a_rollout_though_each_driver_observes_it_once() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 2).await;
        deliver_all(&fixture).await;
        let until = fixture.now + INTERVAL * 40;
        fixture.api.state().proxies.open_fuses(1, "shop/shop", "v2/1", until);
        assert!(!observe_by_others(&mut fixture, 4).await);
        assert!(observe_by_others(&mut fixture, 2).await, "after two minutes");
    });
}
