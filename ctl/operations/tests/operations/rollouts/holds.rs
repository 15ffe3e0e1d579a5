//! Evidence against the canary that is too little for a rollback.

use super::{Canary, INTERVAL, RolloutFixture, assert_is_over, stable};
use canary_release::alert::{AlertKind, RolloutResult};
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::run;
use serde_json::json;

/// A rollout at 1 %. In so many intervals a response of the canary fails in each group; after them no user sends a request.
async fn after_failures(intervals: usize, changes: &serde_json::Value) -> RolloutFixture {
    let fixture = RolloutFixture::started_with(Canary::Good, changes).await;
    let mut now = fixture.now;
    let mut driver = fixture.driver(&fixture.cluster);
    for interval in 0..intervals + 2 {
        driver.reconcile(now).await.unwrap();
        let mut state = fixture.api.state();
        state.proxies.respond("v2", 40, u64::from(interval > 0));
        state.proxies.respond("v1", 200, 0);
        drop(state);
        now += INTERVAL;
    }
    drop(driver);
    RolloutFixture { now, ..fixture }
}

#[test]
fn a_hold_ends_after_the_time_of_the_file_though_each_observation_is_another_drivers() {
    run(async {
        let mut fixture = after_failures(3, &json!({"maxHeld": "5m", "expiresIn": "10m"})).await;
        let mut held = 0;
        for _ in 0..20 {
            let cluster = fixture.api.cluster().await;
            let report = fixture.driver(&cluster).reconcile(fixture.now).await.unwrap();
            if report.ended().is_some() {
                break;
            }
            if report.decision.phase == RolloutPhase::Held {
                held += 1;
                let reason = &report.decision.reason;
                assert!(
                    reason.contains("; unless that changes, the canary is rolled back at 20"),
                    "{reason}"
                );
            }
            fixture.now += INTERVAL;
        }
        assert!((9..=11).contains(&held), "held at {held} observations of 30 s, and not for 5 minutes");
        let record = fixture.record().await;
        let end = record.rollout.as_ref().unwrap().ended.as_ref().unwrap();
        assert_eq!(end.result, RolloutResult::RolledBack);
        assert!(end.reason.starts_with("held too long, for 5m: 5xx: canary "), "{}", end.reason);
        assert_eq!(stable(&record), "v1");
        let told = record.alerts.pending().iter().any(|pending| pending.alert.kind == AlertKind::Failed);
        assert!(!told, "it has not failed");
        assert_is_over(&fixture, "held too long").await;
    });
}

#[test]
fn without_that_setting_a_hold_lasts_until_the_deadline() {
    run(async {
        let mut fixture = after_failures(3, &json!({"deadline": "1h", "expiresIn": "10m"})).await;
        let end = fixture.record().await.rollout.unwrap().started_at + INTERVAL * 120;
        let mut last = String::new();
        while fixture.now < end {
            let report = fixture.driver(&fixture.cluster).reconcile(fixture.now).await.unwrap();
            assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
            last = report.decision.reason;
            fixture.now += INTERVAL;
        }
        assert!(!last.contains("unless that changes"), "{last}");
        fixture.now += INTERVAL;
        let report = fixture.driver(&fixture.cluster).reconcile(fixture.now).await.unwrap();
        assert!(report.decision.reason.starts_with("the deadline of 1h has passed"), "{:?}", report.decision);
    });
}
