//! Stable that was scaled down while the canary has users: a rollout takes no more users off it, and a rollback is never refused for it.

use super::{Canary, RolloutFixture, observe, stable};
use canary_operations::{RollbackOptions, WeightRequest};
use canary_release::alert::RolloutResult;
use canary_release::rollout::RolloutPhase;
use canary_release::state::ScaledDown;
use canary_release::status::{Problem, problems};
use fake_api_server::fixture::{SHOP, pod, promote, roll_back, run, set_weight, weight};
use jiff::Timestamp;
use serde_json::json;

impl RolloutFixture {
    /// Pods of a version besides the first, up to this number.
    fn scale(&self, version: &str, pods: usize) {
        let mut state = self.api.state();
        for number in 2..=9 {
            let name = format!("shop-{version}-{number}");
            state.store.remove("Pod", &name);
            if number <= pods {
                state.create(&pod(SHOP, &name, &json!({"app": "shop", "version": version})));
            }
        }
    }

    /// What a rollback of it would say now.
    async fn scaled_down_for_rollback(&self) -> Option<ScaledDown> {
        let (name, stored) = (&self.release.name, self.cluster.get_record(&self.release.name).await.unwrap());
        let checked = self.cluster.check_rollback(name, stored, RollbackOptions::default()).await.unwrap();
        checked.scaled_down().cloned()
    }
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap()
}

/// Four pods of stable serve all users, before the canary has its first ones. It has as many.
async fn with_four_pods(canary: Canary) -> RolloutFixture {
    let fixture = RolloutFixture::started(canary).await;
    fixture.scale("v1", 4);
    fixture.scale("v2", 4);
    fixture
}

/// Drives it until the canary has that weight.
async fn drive_to(fixture: &mut RolloutFixture, percent: &str) {
    while fixture.record().await.state.weight != weight(percent) {
        observe(fixture, 3).await;
    }
}

#[test]
fn a_rollout_is_held_while_stable_has_too_few_pods_for_the_users_who_would_come_back() {
    run(async {
        let step = |percent: u32| json!({"weight": percent, "hold": "2m"});
        let plans = json!({"plans": {"default": [step(25), step(50)]}});
        let mut fixture = RolloutFixture::started_with(Canary::Good, &plans).await;
        fixture.scale("v1", 8);
        fixture.scale("v2", 8);
        assert_eq!(observe(&mut fixture, 2).await.record.stable_pods, Some(8), "before the first step");
        drive_to(&mut fixture, "25%").await;
        fixture.scale("v1", 1);
        let report = observe(&mut fixture, 12).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        let expected = "expected at least 2 ready pods of version `v1`, to which 25% of the users would come back, found 1 ready pod: all users are served by 3";
        assert!(report.decision.reason.starts_with(expected), "{}", report.decision.reason);
        assert_eq!(report.record.state.weight.to_string(), "25%", "the weight stays");

        let stored = fixture.cluster.get_record(&fixture.release.name).await.unwrap();
        let observation = fixture.cluster.observe_status(&fixture.release.name, &stored).await.unwrap();
        let found: Vec<Problem<'_>> = problems(&observation, None, now());
        assert!(found.iter().any(|problem| matches!(problem, Problem::ScaledDown(_))), "{found:?}");

        fixture.scale("v1", 4);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted), "half of them is enough");
    });
}

#[test]
fn pods_that_an_autoscaler_takes_from_both_versions_at_night_hold_no_rollout() {
    run(async {
        let mut fixture = with_four_pods(Canary::Good).await;
        drive_to(&mut fixture, "10%").await;
        fixture.scale("v1", 1);
        fixture.scale("v2", 1);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn the_promotion_is_held_too() {
    run(async {
        let mut fixture = with_four_pods(Canary::Good).await;
        drive_to(&mut fixture, "50%").await;
        fixture.scale("v1", 1);
        let report = observe(&mut fixture, 12).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert_eq!(stable(&report.record), "v1");
    });
}

#[test]
fn a_canary_that_fails_is_rolled_back_onto_few_pods_and_the_reason_has_their_number() {
    run(async {
        let mut fixture = with_four_pods(Canary::Good).await;
        drive_to(&mut fixture, "50%").await;
        fixture.scale("v1", 1);
        fixture.canary = Canary::Failing;
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let reason = &report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason;
        assert!(reason.contains("found 1 ready pod: all users are served by 3"), "{reason}");
    });
}

#[test]
fn a_rollback_and_a_lower_weight_by_hand_are_done_and_say_how_many_pods_are_missing() {
    run(async {
        let fixture = with_four_pods(Canary::Good).await;
        set_weight(&fixture.cluster, &fixture.release, "50%").await.unwrap();
        assert_eq!(fixture.scaled_down_for_rollback().await, None, "none is missing");
        fixture.scale("v1", 1);
        let found = fixture.scaled_down_for_rollback().await.unwrap();
        assert_eq!(
            (found.ready, found.expected, found.serving, found.returning),
            (1, 2, 3, weight("50%")),
            "{found}"
        );
        let request = WeightRequest {
            weight: weight("20%"),
            expires_in: None,
            expected_generation: None,
            skipped: &[],
        };
        let stored = fixture.cluster.get_record(&fixture.release.name).await.unwrap();
        let lower = fixture.cluster.check_weight(&fixture.release.name, stored, request).await.unwrap();
        assert_eq!(lower.scaled_down(), Some(&found));
        fixture.cluster.set_weight(lower).await.unwrap();
        roll_back(&fixture.cluster, &fixture.release).await.unwrap();
        let record = fixture.record().await;
        assert_eq!((record.state.versions.len(), stable(&record)), (1, "v1"), "{:?}", record.state);
    });
}

#[test]
fn after_a_promotion_the_version_before_is_compared_with_the_one_that_has_all_users() {
    run(async {
        let fixture = with_four_pods(Canary::Good).await;
        set_weight(&fixture.cluster, &fixture.release, "50%").await.unwrap();
        promote(&fixture.cluster, &fixture.release).await.unwrap();
        assert_eq!(fixture.scaled_down_for_rollback().await, None, "four of either");
        fixture.scale("v1", 1);
        let found = fixture.scaled_down_for_rollback().await.unwrap();
        assert_eq!((found.version.as_str(), found.ready, found.serving), ("v1", 1, 4), "{found}");
        roll_back(&fixture.cluster, &fixture.release).await.unwrap();
        assert_eq!(stable(&fixture.record().await), "v1");
    });
}
