//! What counts as a failure besides 5xx and missing responses.

use super::{Canary, RolloutFixture, assert_is_over, stable};
use canary_operations::RolloutReport;
use canary_release::alert::RolloutResult;
use canary_release::delivery::deployed_config;
use fake_api_server::fixture::run;
use serde_json::{Value, json};

/// Drives a rollout during which in each interval something happens besides responses.
async fn drive_with(changes: &Value, mut happen: impl FnMut(&RolloutFixture)) -> RolloutReport {
    let mut fixture = RolloutFixture::started_with(Canary::Good, changes).await;
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    for _ in 0..super::MANY {
        let report = driver.reconcile(fixture.now).await.unwrap();
        if report.ended().is_some() {
            assert_is_over(&fixture, "at the end").await;
            assert_eq!(slower_than(&fixture), 0, "nothing is timed any more");
            return report;
        }
        if fixture.record().await.state.weight.basis_points() > 0 {
            happen(&fixture);
        }
        fixture.pass().await;
    }
    panic!("the rollout has not ended");
}

/// The time that the proxies are configured with.
fn slower_than(fixture: &RolloutFixture) -> u64 {
    let state = fixture.api.state();
    let object = state.store.find("EnvoyFilter", "canary-gateway-config").unwrap();
    deployed_config(object).unwrap().unwrap().releases["shop/shop"].slower_than_milliseconds
}

fn reason(report: &RolloutReport) -> String {
    report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason.clone()
}

/// Of 40 responses of the canary to each user group so many are of a kind, and of 200 of stable as well.
fn failing(kind: &'static str, each: u64) -> impl FnMut(&RolloutFixture) {
    move |fixture| {
        let mut state = fixture.api.state();
        state.proxies.fail_as(kind, "v2", each);
        state.proxies.fail_as(kind, "v1", 2);
    }
}

#[test]
fn a_canary_that_is_slow_is_rolled_back_where_the_file_says_how_slow_is_too_slow() {
    run(async {
        let mut seen = Vec::new();
        let mut slow = failing("slow_responses", 4);
        let report = drive_with(&json!({"slowerThan": "500ms"}), |fixture| {
            seen.push(slower_than(fixture));
            slow(fixture);
        })
        .await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        assert!(
            reason(&report).starts_with("slow: canary 10.00% of 2560 responses, stable 1.00% of 12800"),
            "{}",
            reason(&report)
        );
        assert!(seen.iter().all(|time| *time == 500), "{seen:?}");
        let report = drive_with(&json!({}), failing("slow_responses", 4)).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        let alike = drive_with(&json!({"slowerThan": "500ms"}), |fixture| {
            let mut state = fixture.api.state();
            state.proxies.fail_as("slow_responses", "v2", 4);
            state.proxies.fail_as("slow_responses", "v1", 20);
        })
        .await;
        assert_eq!(alike.ended(), Some(RolloutResult::Promoted), "{:?}", alike.decision);
    });
}

#[test]
fn a_percentile_of_stable_becomes_a_time_when_the_rollout_starts_and_too_few_responses_start_none() {
    run(async {
        let changes =
            json!({"rollout": super::rollout(&json!({"slowerThan": "p95"})), "latencyHistogram": true});
        let mut fixture = RolloutFixture::applied(Canary::Good, &super::release(&changes)).await;
        let counted = |fixture: &RolloutFixture, up_to, all| {
            let mut state = fixture.api.state();
            state.proxies.set_latencies("shop/shop", "v1/stable", up_to, all);
        };
        counted(&fixture, [(100, 899), (250, 998)], 999);
        let refused = fixture.start().await.unwrap_err().to_string();
        let expected =
            "expected 1000 responses of stable `v1` in the proxies, and p95 of them within 1000 s, found 999";
        assert_eq!(refused, expected);
        counted(&fixture, [(100, 900), (250, 950)], 1_000);
        fixture.start().await.unwrap();
        let rollout = fixture.record().await.rollout.unwrap();
        assert_eq!(rollout.policy.slower_than.map(u64::from), Some(250));
        assert_eq!(slower_than(&fixture), 250);
    });
}

#[test]
fn responses_with_4xx_count_on_request() {
    run(async {
        let report = drive_with(&json!({"clientErrors": true}), failing("client_errors", 4)).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        assert!(reason(&report).starts_with("4xx: canary 10.00% of 2560 responses"), "{}", reason(&report));
        let report = drive_with(&json!({}), failing("client_errors", 4)).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
    });
}

#[test]
fn a_canary_that_loses_sessions_is_rolled_back_where_the_release_counts_them() {
    run(async {
        let counted = json!({"lostSessions": true});
        let report = drive_with(&counted, failing("lost_sessions", 4)).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        assert!(reason(&report).starts_with("lost sessions: canary 10.00% of "), "{}", reason(&report));
        let report = drive_with(&json!({"lostSessions": false}), failing("lost_sessions", 4)).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        // Stable alone loses some.
        let report = drive_with(&counted, failing("lost_sessions", 0)).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
    });
}

/// As with sessions that are encrypted into their cookie.
#[test]
fn where_each_response_sets_another_session_a_canary_that_empties_them_is_rolled_back() {
    run(async {
        for (emptied, result) in [(4, RolloutResult::RolledBack), (0, RolloutResult::Promoted)] {
            let report = drive_with(&json!({"lostSessions": true}), |fixture| {
                let mut state = fixture.api.state();
                state.proxies.fail_as("lost_sessions", "v2", 40);
                state.proxies.fail_as("lost_sessions", "v1", 200);
                state.proxies.fail_as("emptied_sessions", "v2", emptied);
            })
            .await;
            assert_eq!(report.ended(), Some(result), "{emptied}: {:?}", report.decision);
        }
    });
}

/// The container of each of these versions' pods is restarted.
fn restart(fixture: &RolloutFixture, versions: &[&str]) {
    for version in versions {
        fixture.api.state().store.edit("Pod", &format!("shop-{version}"), |pod| {
            let count = &mut pod["status"]["containerStatuses"][0]["restartCount"];
            *count = (count.as_u64().unwrap() + 1).into();
        });
    }
}

#[test]
fn a_canary_whose_container_restarts_again_and_again_is_rolled_back_and_not_for_restarts_that_stable_has_too()
{
    run(async {
        let report = drive_with(&json!({}), |fixture| restart(fixture, &["v2"])).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let told =
            "restarts: expected at most 3 of the canary's containers, found 4 in 1 pod; stable 0 in 1 pod";
        assert_eq!(reason(&report), told);
        let report = drive_with(&json!({"maxPodRestarts": 100}), |fixture| restart(fixture, &["v2"])).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        let report = drive_with(&json!({}), |fixture| restart(fixture, &["v1", "v2"])).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        assert_eq!(stable(&report.record), "v2");
    });
}

/// Requests whose responses never come, as the proxies count them.
#[test]
fn a_canary_that_hangs_is_rolled_back() {
    run(async {
        let report = drive_with(&json!({}), |fixture| {
            let mut state = fixture.api.state();
            for counter in ["requests", "unanswered"] {
                state.proxies.fail_as(counter, "v2", 8);
            }
        })
        .await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        assert!(
            reason(&report).starts_with("unanswered: canary 16.67% of 3072 responses, stable 0.00% of 12800"),
            "{}",
            reason(&report)
        );
    });
}

/// The clients of a hundredth of the requests go away, and a tenth are long polls: of both versions the same share has no response.
#[test]
fn requests_without_a_response_in_both_versions_do_not_end_a_rollout() {
    run(async {
        let report = drive_with(&json!({}), |fixture| {
            let mut state = fixture.api.state();
            for (version, each) in [("v2", 4), ("v1", 20)] {
                state.proxies.fail_as("requests", version, each);
                state.proxies.fail_as("unanswered", version, each);
            }
            // These have no response yet, and nothing says that they have none in time.
            state.proxies.fail_as("requests", "v2", 8);
        })
        .await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
    });
}
