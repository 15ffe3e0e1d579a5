//! People who change a release while a rollout drives it.

use super::{Canary, RolloutFixture, assert_is_over, observe};
use canary_operations::Error;
use canary_release::alert::RolloutResult;
use canary_release::record::Author;
use canary_release::rollout::{RolloutPhase, RolloutVerb};
use fake_api_server::fixture::{promote, release, roll_back, run, set_weight};
use jiff::Timestamp;
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

const POLICY: &str = "the platform says no";

/// Only a record that the objects can follow is written: a driver could not end what has begun.
#[test]
fn what_the_api_server_refuses_is_not_in_the_record() {
    run(async {
        let rollout = json!({"rollout": super::rollout(&json!({"observe": true}))});
        let mut fixture = RolloutFixture::applied(Canary::Good, &release(&rollout)).await;
        fixture.api.deny("canary-gateway-config", POLICY);
        let refused = fixture.start().await.unwrap_err().to_string();
        assert!(refused.contains(POLICY), "{refused}");
        assert_eq!(fixture.record().await.rollout, None);
        fixture.api.allow();
        fixture.start().await.unwrap();
        fixture.api.deny("canary-gateway-config", POLICY);
        let refused = fixture.ask(RolloutVerb::Abort).await.unwrap_err().to_string();
        assert!(refused.contains(POLICY), "{refused}");
        assert!(fixture.record().await.rollout.unwrap().is_active());

        let mut driven = RolloutFixture::started(Canary::Good).await;
        driven.api.deny("canary-gateway-config", POLICY);
        let cluster = driven.api.cluster().await;
        let refused = driven.driver(&cluster).reconcile(driven.now).await;
        assert!(format!("{refused:?}").contains(POLICY), "{refused:?}");
        assert_eq!(driven.record().await.rollout.unwrap().step, None, "the first step has not begun");
        driven.api.allow();
        assert_eq!(driven.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn what_somebody_else_has_paused_may_be_aborted_and_paused_and_nothing_more() {
    run(async {
        let fixture =
            RolloutFixture::applied(Canary::Good, &release(&json!({"rollout": super::rollout(&json!({}))})))
                .await;
        let (cluster, name) = (&fixture.cluster, &fixture.release.name);
        let paused = async || {
            let mut stored = cluster.get_record(name).await.unwrap();
            stored.record.pause(Author::new("eve", Timestamp::now()), None);
            stored
        };
        let start = cluster.start_rollout(name, paused().await, (&fixture.release.rollout, "default"), &[]);
        assert!(matches!(start.await, Err(Error::Preflight(_))), "started");
        let stored = cluster.get_record(name).await.unwrap();
        cluster.start_rollout(name, stored, (&fixture.release.rollout, "default"), &[]).await.unwrap();
        for verb in [RolloutVerb::Approve, RolloutVerb::Resume, RolloutVerb::Retry, RolloutVerb::Promote] {
            let refused = cluster.change_rollout(name, paused().await, verb, &[]).await;
            assert!(matches!(refused, Err(Error::Preflight(_))), "{verb:?}: {refused:?}");
        }
        for verb in [RolloutVerb::Pause, RolloutVerb::Abort] {
            cluster.change_rollout(name, paused().await, verb, &[]).await.unwrap();
        }
    });
}

#[test]
fn an_interval_in_which_somebody_set_a_weight_is_no_evidence() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        for _ in 0..3 {
            driver.reconcile(fixture.now).await.unwrap();
            fixture.pass().await;
        }
        let counted =
            |record: &canary_release::record::Record| record.rollout.as_ref().unwrap().evidence.intervals;
        let before = counted(&fixture.record().await);
        set_weight(&fixture.cluster, &fixture.release, "5").await.unwrap();
        driver.reconcile(fixture.now).await.unwrap();
        assert_eq!(counted(&fixture.record().await), before);
        fixture.pass().await;
        driver.reconcile(fixture.now).await.unwrap();
        assert_eq!(counted(&fixture.record().await), before + 1, "the next one is");
    });
}

/// Who starts a rollout agrees to the steps of its plan.
#[test]
fn a_rollout_takes_steps_and_a_promotion_above_the_largest_step_of_a_weight_set_by_hand() {
    run(async {
        let release = release(&json!({"maxStep": 5, "rollout": super::rollout(&json!({}))}));
        let mut fixture = RolloutFixture::started_as(Canary::Good, &release).await;
        let by_hand = set_weight(&fixture.cluster, &fixture.release, "10").await;
        assert!(matches!(by_hand, Err(Error::Preflight(_))), "{by_hand:?}");
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"]);
    });
}
