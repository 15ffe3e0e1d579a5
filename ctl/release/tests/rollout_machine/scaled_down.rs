//! Missing pods of stable: what is noted of them, and what a rollout does about it.

use crate::fixture::RolloutFixture;
use assignment::Weight;
use assignment::contract::{ExpiryAction, Until};
use canary_release::evidence::EvidenceVerdict;
use canary_release::record::{Author, Operation};
use canary_release::rollout::{Decision, Ending, RolloutAction, RolloutObservation, RolloutPhase};
use canary_release::state::ScaledDown;
use jiff::Timestamp;

const ROLLOUT: &str = "  rollout:\n    plans: {default: [{weight: 10, hold: 1m}, {weight: 50, hold: 1m}]}\n";

/// What is decided while stable has a pod of the five that it should have.
fn decide(fixture: &RolloutFixture, verdict: EvidenceVerdict) -> Decision {
    let missing = ScaledDown {
        version: "v1".to_owned(),
        ready: 1,
        expected: 5,
        serving: 10,
        returning: fixture.record.state.weight,
    };
    let seen = RolloutObservation { scaled_down: Some(missing), ..fixture.observe(verdict) };
    fixture.record.rollout.as_ref().unwrap().next(&seen, fixture.now)
}

#[test]
fn no_more_users_go_to_the_canary_and_fewer_may() {
    let mut fixture = RolloutFixture::new(ROLLOUT);
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    let mut more_by_hand = fixture.clone();
    more_by_hand.record.set_weight(
        "30".parse().unwrap(),
        None,
        Author::new("ada", Timestamp::now()),
        Operation::Weight,
    );
    more_by_hand.deployed = more_by_hand.record.state.generation;
    more_by_hand.record.active_rollout().unwrap().resume(fixture.now).unwrap();
    assert_eq!(
        decide(&more_by_hand, EvidenceVerdict::Advance).action,
        RolloutAction::EnterStep(0),
        "back to 10%"
    );
    fixture.pass(60);
    let held = decide(&fixture, EvidenceVerdict::Advance);
    assert_eq!((held.phase, held.action), (RolloutPhase::Held, RolloutAction::Wait));
    assert!(held.reason.starts_with("expected at least 5 ready pods of version `v1`"), "{}", held.reason);
    fixture.run_until_weight("50%", EvidenceVerdict::Advance);
    fixture.pass(60);
    assert_eq!(decide(&fixture, EvidenceVerdict::Advance).phase, RolloutPhase::Held, "nor is it promoted");
}

#[test]
fn a_canary_that_fails_is_rolled_back_or_stopped_and_the_pods_are_said() {
    for (setting, ending) in [("rollback", Ending::Rollback), ("stop", Ending::Stop)] {
        let mut fixture = RolloutFixture::new(&format!("{ROLLOUT}    onFailure: {setting}\n"));
        fixture.tick(EvidenceVerdict::Advance);
        let decision = decide(&fixture, EvidenceVerdict::Rollback);
        assert_eq!(decision.action, RolloutAction::Decide(ending));
        assert!(
            decision.reason.starts_with("Rollback; expected at least 5 ready pods"),
            "{}",
            decision.reason
        );
    }
}

#[test]
fn the_pods_that_serve_all_users_are_noted_when_the_canary_gets_its_first_ones() {
    let mut fixture = RolloutFixture::new(ROLLOUT);
    let ten = "10%".parse().unwrap();
    assert!(!fixture.record.note_stable_pods(Weight::ZERO, 9), "nobody is on the canary");
    fixture.tick(EvidenceVerdict::Advance);
    assert!(!fixture.record.note_stable_pods(Weight::ZERO, 0), "no pod serves anybody");
    let mut of_an_older_tool = fixture.clone();
    assert!(of_an_older_tool.record.note_stable_pods(ten, 7), "of a record that has none");
    assert!(fixture.record.note_stable_pods(Weight::ZERO, 10));
    assert!(!fixture.record.note_stable_pods(ten, 4), "users are on the canary already");
    let now = u64::try_from(fixture.now.as_second()).unwrap();
    let ready = |version: &str| if version == "v1" { 1 } else { 10 };
    fixture.record.state.weight = "50%".parse().unwrap();
    let found = fixture.record.scaled_down(ready, now).map(|found| (found.ready, found.expected));
    assert_eq!(found, Some((1, 3)));
    fixture.record.state.until = Some(Until { at_seconds: now, action: ExpiryAction::Stop });
    assert_eq!(fixture.record.scaled_down(ready, now), None, "at an expired weight nobody would come back");
}
