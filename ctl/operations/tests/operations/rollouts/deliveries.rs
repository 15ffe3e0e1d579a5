//! One driver and one receiver: what is sent again, and what is not.

use super::receiver::{Receiver, TestSender};
use super::{Canary, RolloutFixture, rollout};
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::{release, run};
use serde_json::{Value, json};
use std::time::Duration;

/// Longer than the backoff of any attempt.
const LONG: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);
/// In which a receiver on this machine gets what is sent to it.
const ARRIVAL: Duration = Duration::from_millis(100);
const PATIENT: Duration = Duration::from_secs(30);

async fn started() -> RolloutFixture {
    let team = json!([{"name": "team", "type": "webhook", "url": "http://a/"}]);
    let rollout = rollout(&json!({"alerts": team}));
    RolloutFixture::started_as(Canary::Good, &release(&json!({"rollout": rollout}))).await
}

/// How often a receiver gets the first alert of a driver that looks three times, each time after the backoff.
async fn sent_in_three_looks(receiver: &Receiver) -> usize {
    let mut fixture = started().await;
    let cluster = fixture.api.cluster().await;
    let sender = TestSender::within(PATIENT, &[("team", receiver)]);
    let mut driver = fixture.driver(&cluster).with_alerts(sender);
    for _ in 0..3 {
        driver.deliver_alerts(fixture.now).await.unwrap();
        tokio::time::sleep(ARRIVAL).await;
        fixture.now += LONG;
    }
    receiver.received().len()
}

#[test]
fn what_fails_is_sent_again_and_a_request_that_lasts_is_not_sent_beside_itself() {
    run(async {
        let failing = Receiver::start().await;
        failing.answer(500);
        assert_eq!(sent_in_three_looks(&failing).await, 3);
        let silent = Receiver::start().await;
        silent.fall_silent();
        assert_eq!(sent_in_three_looks(&silent).await, 1);
    });
}

#[test]
fn after_a_failure_no_later_alert_is_sent_before_it() {
    run(async {
        let failing = Receiver::start().await;
        failing.answer(500);
        let fixture = started().await;
        let cluster = fixture.api.cluster().await;
        // The first step, by a driver that sends nothing.
        fixture.driver(&cluster).reconcile(fixture.now).await.unwrap();
        assert_eq!(fixture.record().await.alerts.pending().len(), 2);
        let mut driver = fixture.driver(&cluster).with_alerts(TestSender::to(&[("team", &failing)]));
        driver.deliver_alerts(fixture.now).await.unwrap();
        driver.settle_alerts().await;
        assert_eq!(failing.kinds(), ["started"]);
    });
}

/// Another client writes the record before each write of a driver.
fn write_first(fixture: &RolloutFixture) {
    let mut writes = 0;
    fixture.api.before_write(move |state, line| {
        if line.contains("/configmaps/shop-canary") {
            writes += 1;
            let note =
                |record: &mut Value| record["metadata"]["annotations"]["note"] = json!(writes.to_string());
            state.store.edit_as_owner("ConfigMap", "shop-canary", note);
        }
    });
}

#[test]
fn alerts_whose_claim_another_client_was_before_are_sent_by_nobody_and_stay_until_the_next_call() {
    run(async {
        let receiver = Receiver::start().await;
        let fixture = started().await;
        let mut driver = fixture.driver(&fixture.cluster).with_alerts(TestSender::to(&[("team", &receiver)]));
        write_first(&fixture);
        assert_eq!(driver.deliver_alerts(fixture.now).await.unwrap(), 1);
        driver.settle_alerts().await;
        assert_eq!(receiver.kinds().len(), 0);
        fixture.api.before_write(|_, _| {});
        assert_eq!(driver.deliver_alerts(fixture.now).await.unwrap(), 1);
        driver.settle_alerts().await;
        assert_eq!(driver.deliver_alerts(fixture.now).await.unwrap(), 0);
        assert_eq!(receiver.kinds(), ["started"]);
    });
}

#[test]
fn a_refusal_that_another_client_wrote_before_is_noted_at_the_next_observation() {
    run(async {
        let fixture = started().await;
        fixture.api.state().store.remove("Pod", "shop-v2");
        let mut driver = fixture.driver(&fixture.cluster);
        write_first(&fixture);
        let held = driver.reconcile(fixture.now).await.unwrap();
        assert_eq!(held.decision.phase, RolloutPhase::Held, "{:?}", held.decision);
        let before = fixture.record().await;
        fixture.api.before_write(|_, _| {});
        driver.reconcile(fixture.now).await.unwrap();
        assert_ne!(fixture.record().await, before);
    });
}
