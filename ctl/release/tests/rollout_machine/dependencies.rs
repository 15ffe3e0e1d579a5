//! Releases that have to be at a version: until they are no weight rises and nothing is promoted, and all that protects users is done.

use crate::fixture::RolloutFixture;
use canary_release::evidence::EvidenceVerdict;
use canary_release::rollout::{DependencyState, Ending, RolloutAction, RolloutPhase};

const AFTER_THE_API: &str = "  rollout:
    plans: {default: [{weight: 10, hold: 1m}, {weight: 50, hold: 1m}]}
    dependsOn: [{name: api, stable: v7}]
";

fn with_api(state: DependencyState) -> RolloutFixture {
    RolloutFixture { dependencies: vec![state], ..RolloutFixture::new(AFTER_THE_API) }
}

fn at(version: &str) -> DependencyState {
    DependencyState::Stable(version.to_owned())
}

#[test]
fn a_rollout_begins_when_its_dependency_has_the_version() {
    let mut fixture = with_api(at("v6"));
    let decision = fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Waiting, RolloutAction::Wait));
    assert_eq!(
        decision.reason,
        "expected release shop/api with `v7` as stable, found `v6`; the rollout begins"
    );
    fixture.dependencies = vec![at("v7")];
    assert_eq!(fixture.tick(EvidenceVerdict::Waiting).action, RolloutAction::EnterStep(0));
}

#[test]
fn a_dependency_that_is_missing_unread_or_not_observed_is_waited_for() {
    for (states, found) in [
        (vec![DependencyState::Missing], "found no such release"),
        (vec![DependencyState::Unread("the API server is away".to_owned())], "the API server is away"),
        (Vec::new(), "not observed yet"),
    ] {
        let fixture = RolloutFixture { dependencies: states, ..RolloutFixture::new(AFTER_THE_API) };
        let decision = fixture.decide(EvidenceVerdict::Advance);
        assert_eq!(decision.action, RolloutAction::Wait);
        assert!(decision.reason.contains(found), "expected {found}: {}", decision.reason);
    }
}

#[test]
fn a_dependency_that_is_rolled_back_meanwhile_stops_the_next_step_and_the_promotion_and_no_rollback() {
    for weight in ["10%", "50%"] {
        let mut fixture = with_api(at("v7"));
        fixture.run_until_weight(weight, EvidenceVerdict::Advance);
        fixture.dependencies = vec![at("v6")];
        fixture.pass(60);
        assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Wait, "at {weight}");
        let decision = fixture.decide(EvidenceVerdict::Rollback);
        assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback), "at {weight}");
    }
}
