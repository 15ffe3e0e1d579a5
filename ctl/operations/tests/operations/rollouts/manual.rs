//! People who change a release while a rollout drives it.

use super::{Canary, RolloutFixture, assert_is_over, observe};
use crate::fixture::{promote, roll_back, run, set_weight};
use canary_operations::Error;
use canary_release::rollout::{RolloutPhase, RolloutResult, RolloutVerb};
use serde_json::json;

#[test]
fn a_weight_set_by_hand_suspends_the_rollout_until_it_is_resumed() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 3).await;
        set_weight(&fixture.cluster, &fixture.release, "5").await.unwrap();
        let report = observe(&mut fixture, 20).await;
        assert_eq!(report.decision.phase, RolloutPhase::Suspended, "{:?}", report.decision);
        assert_eq!(report.record.state.weight.to_string(), "5%");
        fixture.ask(RolloutVerb::Resume).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn a_promotion_and_a_rollback_by_hand_end_the_rollout() {
    run(async {
        let mut promoted = RolloutFixture::started(Canary::Good).await;
        observe(&mut promoted, 3).await;
        promote(&promoted.cluster, &promoted.release).await.unwrap();
        assert_eq!(promoted.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_is_over(&promoted, "promoted").await;
        let mut rolled_back = RolloutFixture::started(Canary::Good).await;
        observe(&mut rolled_back, 3).await;
        roll_back(&rolled_back.cluster, &rolled_back.release).await.unwrap();
        assert_eq!(rolled_back.drive().await.ended(), Some(RolloutResult::RolledBack));
        assert_is_over(&rolled_back, "rolled back").await;
    });
}

#[test]
fn what_people_ask_for_is_in_the_record_and_any_driver_carries_it_out() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 3).await;
        assert!(matches!(fixture.ask(RolloutVerb::Approve).await, Err(Error::Rollout(_))), "no gate");
        assert!(matches!(fixture.start().await, Err(Error::Rollout(_))), "one goes on");
        fixture.ask(RolloutVerb::Pause).await.unwrap();
        let paused = observe(&mut fixture, 20).await;
        assert_eq!((paused.decision.phase, fixture.weights.len()), (RolloutPhase::Suspended, 1));
        fixture.ask(RolloutVerb::Abort).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::RolledBack));
        assert!(matches!(fixture.ask(RolloutVerb::Resume).await, Err(Error::Rollout(_))), "it has ended");
        let mut early = RolloutFixture::started(Canary::Good).await;
        observe(&mut early, 2).await;
        early.ask(RolloutVerb::Promote).await.unwrap();
        assert_eq!(early.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn a_rollout_that_only_observes_leaves_no_proxy_counting_when_it_is_aborted() {
    run(async {
        let mut fixture = RolloutFixture::started_with(Canary::Good, &json!({"observe": true})).await;
        observe(&mut fixture, 3).await;
        fixture.ask(RolloutVerb::Abort).await.unwrap();
        assert_is_over(&fixture, "aborted, without a driver").await;
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Observed));
    });
}
