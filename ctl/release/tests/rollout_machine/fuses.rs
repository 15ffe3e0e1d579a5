//! An open fuse of the canary: the rollout is held, and fails where it is open in two proxies or for two minutes.

use crate::fixture::RolloutFixture;
use canary_release::evidence::EvidenceVerdict;
use canary_release::rollout::{Decision, Ending, RolloutAction, RolloutObservation, RolloutPhase};

const ROLLOUT: &str = "  rollout:\n    plans: {default: [{weight: 10, hold: 1m}, {weight: 50, hold: 1m}]}\n";

fn at_ten_percent(rollout: &str) -> RolloutFixture {
    let mut fixture = RolloutFixture::new(rollout);
    assert_eq!(fixture.tick(EvidenceVerdict::Advance).action, RolloutAction::EnterStep(0));
    fixture
}

/// What is decided where the fuse is open in so many proxies and the evidence lets the rollout go on.
fn with_fused(fixture: &mut RolloutFixture, fused: usize) -> Decision {
    fixture.record.note_fuses(fused, fixture.now);
    let seen = RolloutObservation { fused, ..fixture.observe(EvidenceVerdict::Advance) };
    fixture.record.rollout.as_ref().unwrap().next(&seen, fixture.now)
}

#[test]
fn the_fuse_of_one_proxy_holds_a_rollout_and_its_step_begins_again_when_it_closes() {
    let mut fixture = at_ten_percent(ROLLOUT);
    fixture.pass(60);
    let decision = with_fused(&mut fixture, 1);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Held, RolloutAction::Wait));
    assert_eq!(decision.reason, "the fuse of the canary is open in 1 proxy; Advance");
    fixture.pass(30);
    for left in [60, 1] {
        let decision = with_fused(&mut fixture, 0);
        assert_eq!((decision.phase, decision.action), (RolloutPhase::Progressing, RolloutAction::Wait));
        assert_eq!(decision.reason, format!("the step at 10% has {left}s left"));
        fixture.pass(if left == 60 { 59 } else { 1 });
    }
    assert_eq!(with_fused(&mut fixture, 0).action, RolloutAction::EnterStep(1));
}

#[test]
fn the_fuses_of_two_proxies_fail_a_rollout_at_once() {
    let mut fixture = at_ten_percent(ROLLOUT);
    let decision = with_fused(&mut fixture, 2);
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback));
    assert_eq!(decision.reason, "the fuse of the canary is open in 2 proxies; Advance");
}

#[test]
fn a_fuse_that_is_open_for_two_minutes_fails_a_rollout_unless_it_was_closed_for_thirty_seconds() {
    let fails = RolloutAction::Decide(Ending::Rollback);
    for (closed, action) in [(0, fails), (3, fails), (29, fails), (30, RolloutAction::Wait)] {
        let mut fixture = at_ten_percent(ROLLOUT);
        assert_eq!(with_fused(&mut fixture, 1).action, RolloutAction::Wait);
        fixture.pass(60);
        if closed > 0 {
            assert_eq!(with_fused(&mut fixture, 0).action, RolloutAction::Wait, "the step begins again");
            fixture.pass(closed);
            let seen = usize::from(closed != 30);
            assert_eq!(with_fused(&mut fixture, seen).action, RolloutAction::Wait, "closed for {closed} s");
        }
        assert_eq!(with_fused(&mut fixture, 1).action, RolloutAction::Wait, "closed for {closed} s");
        fixture.pass(60);
        assert_eq!(with_fused(&mut fixture, 1).action, action, "closed for {closed} s");
    }
}

#[test]
fn the_fuse_of_one_proxy_does_not_hold_a_canary_that_the_evidence_is_against() {
    let mut fixture = at_ten_percent(ROLLOUT);
    fixture.record.note_fuses(1, fixture.now);
    let seen = RolloutObservation { fused: 1, ..fixture.observe(EvidenceVerdict::Rollback) };
    let decision = fixture.record.rollout.as_ref().unwrap().next(&seen, fixture.now);
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback), "{}", decision.reason);
}

#[test]
fn what_the_file_says_about_a_failure_is_done() {
    let mut fixture = at_ten_percent(&format!("{ROLLOUT}    onFailure: hold\n"));
    let decision = with_fused(&mut fixture, 2);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Held, RolloutAction::Wait));
}

#[test]
fn since_when_a_fuse_is_open_is_written_once_and_a_second_driver_goes_on_from_it() {
    let mut fixture = at_ten_percent(ROLLOUT);
    let now = fixture.now;
    assert!(fixture.record.note_fuses(1, now));
    fixture.pass(10);
    let later = fixture.now;
    assert!(!fixture.record.note_fuses(1, later), "nothing has changed");
    assert_eq!(fixture.record.rollout.as_ref().unwrap().fused_since, Some(now));
    assert!(fixture.record.note_fuses(0, later));
    assert!(!fixture.record.note_fuses(0, later), "closed, for no time yet");
    fixture.pass(30);
    let closed = fixture.now;
    assert!(fixture.record.note_fuses(0, closed));
    assert_eq!(fixture.record.rollout.as_ref().unwrap().fused_since, None);
    assert!(!fixture.record.note_fuses(0, closed));
}
