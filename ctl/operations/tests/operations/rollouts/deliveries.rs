//! One driver and one receiver: what is sent again, and what is not.

use super::receiver::{Receiver, TestSender};
use super::{Canary, RolloutFixture, rollout};
use crate::fixture::{release, run};
use serde_json::json;
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
