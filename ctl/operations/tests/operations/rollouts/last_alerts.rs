//! Alerts at the end: of a promotion that late proxies hold, and of a release that is uninstalled.

use super::receiver::{Receiver, TestSender};
use super::{Canary, INTERVAL, RolloutFixture, rollout};
use canary_operations::{
    AlertSender, Error, LastAlerts, RolloutDriver, UninstallOptions, Uninstalled, WaitOptions,
};
use canary_release::alert::RolloutResult;
use canary_release::preflight::PreflightCheck;
use fake_api_server::fixture::{release, run, weight};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// For proxies that do not get what they wait for.
const SHORT: Duration = Duration::from_millis(50);

async fn started(changes: &Value) -> RolloutFixture {
    let mut changes = changes.clone();
    changes["alerts"] = json!([{"name": "team", "type": "webhook", "url": "http://a/"}]);
    let release = release(&json!({"rollout": rollout(&changes)}));
    Box::pin(RolloutFixture::started_as(Canary::Good, &release)).await
}

/// Reconciles and lets time pass until this is so.
async fn until(
    fixture: &mut RolloutFixture,
    driver: &mut RolloutDriver<'_>,
    mut is_so: impl FnMut(&Result<canary_operations::RolloutReport, Error>) -> bool,
) {
    for _ in 0..80 {
        let result = driver.reconcile(fixture.now).await;
        let is_done = is_so(&result);
        fixture.pass().await;
        if is_done {
            return;
        }
    }
    panic!("expected something else, found {:?}", fixture.record().await.rollout);
}

#[test]
fn a_promotion_that_late_proxies_hold_is_told_once_over_restarts_and_then_its_end() {
    run(async {
        let receiver = Receiver::start().await;
        let sender = TestSender::to(&[("team", &receiver)]);
        // The weight is renewed after 90 s of a step of 120 s: that is what the proxies do not get.
        let mut fixture = started(&json!({"expiresIn": "3m", "stalledAfter": "5m"})).await;
        let cluster = fixture.api.cluster().await;
        let new_driver = |fixture: &RolloutFixture| {
            RolloutDriver::new(&cluster, fixture.release.name.clone(), SHORT).with_alerts(Arc::clone(&sender))
        };
        let mut driver = new_driver(&fixture);
        let at_last_step = |result: &Result<canary_operations::RolloutReport, Error>| {
            result.as_ref().is_ok_and(|report| report.record.state.weight == weight("50%"))
        };
        until(&mut fixture, &mut driver, at_last_step).await;
        fixture.api.state().proxies.stop_istiod();
        until(&mut fixture, &mut driver, |result| matches!(result, Err(Error::Late { .. }))).await;
        for _ in 0..40 {
            // Another process each time.
            let mut driver = new_driver(&fixture);
            let error = driver.reconcile(fixture.now).await.unwrap_err();
            assert!(matches!(error, Error::Late { .. }), "{error}");
            driver.settle_alerts().await;
            driver.deliver_alerts(fixture.now).await.unwrap();
            fixture.now += INTERVAL;
        }
        assert_eq!(receiver.kinds(), ["started", "step", "step", "step", "stalled"], "once in 20 minutes");
        let stalled = receiver.received().into_iter().find(|alert| alert["type"] == "stalled").unwrap();
        let reason = stalled["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with("for 5m: ") && reason.contains("gateway-1"), "{reason}");

        {
            let mut state = fixture.api.state();
            let fake_api_server::State { store, proxies, .. } = &mut *state;
            proxies.start_istiod(store);
        }
        let mut driver = new_driver(&fixture);
        let is_promoted = |result: &Result<canary_operations::RolloutReport, Error>| {
            result.as_ref().is_ok_and(|report| report.ended() == Some(RolloutResult::Promoted))
        };
        until(&mut fixture, &mut driver, is_promoted).await;
        driver.settle_alerts().await;
        driver.deliver_alerts(fixture.now).await.unwrap();
        assert_eq!(receiver.kinds().last().map(String::as_str), Some("promoted"));
    });
}

async fn uninstall(
    fixture: &RolloutFixture,
    sender: Option<&Arc<dyn AlertSender>>,
    timeout: Duration,
) -> Uninstalled {
    let name = &fixture.release.name;
    let stored = fixture.cluster.get_record(name).await.unwrap();
    let options = UninstallOptions {
        skipped: &[PreflightCheck::MovesUsers],
        waiting: WaitOptions { timeout: Duration::from_secs(5), progress: &mut |_, _| {} },
        alerts: LastAlerts { sender: sender.cloned(), hooks: None, timeout },
    };
    Box::pin(fixture.cluster.uninstall(name, stored, options)).await.unwrap()
}

#[test]
fn an_uninstallation_sends_what_is_left_and_that_it_has_ended_the_rollout() {
    run(async {
        let receiver = Receiver::start().await;
        let sender = TestSender::to(&[("team", &receiver)]);
        // No driver was ever there.
        let fixture = started(&json!({})).await;
        let uninstalled = uninstall(&fixture, Some(&sender), Duration::from_secs(20)).await;
        assert_eq!(uninstalled.lost_alerts, []);
        assert_eq!(receiver.kinds(), ["started", "aborted"]);
        let reason = receiver.received()[1]["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("has uninstalled the release"), "{reason}");
        assert!(fixture.cluster.find_record(&fixture.release.name).await.unwrap().is_none());
    });
}

#[test]
fn an_uninstallation_without_the_file_of_the_release_names_each_alert_at_once() {
    run(async {
        let fixture = started(&json!({})).await;
        let begun = std::time::Instant::now();
        let sender = TestSender::to(&[]);
        let uninstalled = uninstall(&fixture, Some(&sender), Duration::from_mins(1)).await;
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}: expected no wait", begun.elapsed());
        let lost: Vec<String> = uninstalled.lost_alerts.iter().map(ToString::to_string).collect();
        assert_eq!(lost.len(), 2, "{lost:?}");
        let reason = "did not reach team: expected receiver `team` in the driver's file, found none";
        assert!(lost.iter().all(|alert| alert.ends_with(reason)), "{lost:?}");
    });
}

#[test]
fn an_uninstallation_names_each_alert_that_nobody_gets_any_more() {
    run(async {
        let failing = Receiver::start().await;
        failing.answer(500);
        let sender = TestSender::to(&[("team", &failing)]);
        for sender in [Some(&sender), None] {
            let fixture = started(&json!({})).await;
            let uninstalled = uninstall(&fixture, sender, Duration::ZERO).await;
            let lost: Vec<String> = uninstalled.lost_alerts.iter().map(ToString::to_string).collect();
            assert_eq!(lost.len(), 2, "{lost:?}");
            assert!(
                lost[0].contains("(started) did not reach team: the release was uninstalled before"),
                "{lost:?}"
            );
            assert!(lost[1].contains("(aborted)"), "{lost:?}");
            assert!(fixture.cluster.find_record(&fixture.release.name).await.unwrap().is_none());
        }
    });
}
