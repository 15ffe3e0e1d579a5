//! `maxHeld`: how long evidence against the canary holds a rollout that it does not end.

use crate::deadline::{HOLD_CRITERIA, three_failures};
use crate::fixture::{Killed, RolloutFixture};
use canary_release::alert::RolloutResult;
use canary_release::evidence::{EvidenceVerdict, ProxyCoverage};
use canary_release::record::Author;
use canary_release::rollout::{
    Decision, Ending, RolloutAction, RolloutObservation, RolloutPhase, RolloutVerb,
};
use jiff::Timestamp;

const ROLLOUT: &str = "  rollout:
    plans: {default: [{weight: 10, hold: 1m}, {weight: 50, hold: 1m}]}
    expiresIn: 30m
    maxHeld: 10m
";

fn at_ten_percent(rollout: &str) -> RolloutFixture {
    let mut fixture = RolloutFixture::new(rollout);
    assert_eq!(fixture.tick(EvidenceVerdict::Advance).action, RolloutAction::EnterStep(0));
    fixture
}

/// The canary's failures are enough for a hold.
fn doubtful(fixture: &RolloutFixture) -> RolloutObservation {
    let mut seen = fixture.observe(EvidenceVerdict::Hold);
    seen.assessment.kinds =
        three_failures().assess(&HOLD_CRITERIA, ProxyCoverage { observed: 1, of: 1 }).kinds;
    seen
}

/// A driver observes, and does what it decides unless it is killed before.
fn observe(fixture: &mut RolloutFixture, seen: &RolloutObservation, killed: Killed) -> Decision {
    let before = fixture.clone();
    let has_noted = fixture.record.note_held(&seen.assessment, fixture.now);
    let decision = fixture.record.rollout.as_ref().unwrap().next(seen, fixture.now);
    if killed == Killed::Never {
        fixture.carry_out_decision(decision.clone());
        fixture.version += u64::from(has_noted);
    } else {
        *fixture = before;
    }
    decision
}

fn hold(fixture: &mut RolloutFixture) -> Decision {
    let seen = doubtful(fixture);
    observe(fixture, &seen, Killed::Never)
}

/// Held for so many seconds, observed each ten.
fn hold_for(fixture: &mut RolloutFixture, seconds: i64) {
    for _ in 0..seconds / 10 {
        let decision = hold(fixture);
        assert_eq!(decision.phase, RolloutPhase::Held, "{decision:?} at {}", fixture.now);
        fixture.pass(10);
    }
}

#[test]
fn a_hold_says_when_it_ends_and_then_the_canary_is_rolled_back_as_held_too_long() {
    let mut fixture = at_ten_percent(ROLLOUT);
    let held = hold(&mut fixture);
    let told = "Hold; unless that changes, the canary is rolled back at 2026-11-20T16:10:00Z";
    assert_eq!(
        (held.phase, held.action, held.reason.as_str()),
        (RolloutPhase::Held, RolloutAction::Wait, told)
    );
    hold_for(&mut fixture, 600);
    let over = hold(&mut fixture);
    assert_eq!(over.action, RolloutAction::Decide(Ending::Rollback));
    assert_eq!(over.reason, "held too long, for 10m: Hold");
    fixture.tick(EvidenceVerdict::Hold);
    fixture.tick(EvidenceVerdict::Hold);
    let end = fixture.record.rollout.as_ref().unwrap().ended.clone().unwrap();
    assert_eq!(
        (end.result, end.reason.as_str()),
        (RolloutResult::RolledBack, "held too long, for 10m: Hold")
    );
    assert_eq!(fixture.told(), ["started", "step", "heldTooLong", "rolledBack"]);
}

#[test]
fn the_action_is_that_of_the_file_and_a_file_that_says_nothing_holds_on() {
    let stopped = format!("{ROLLOUT}    onFailure: stop\n");
    let unsaid = ROLLOUT.replace("    maxHeld: 10m\n", "");
    for (rollout, action) in [
        (ROLLOUT, RolloutAction::Decide(Ending::Rollback)),
        (stopped.as_str(), RolloutAction::Decide(Ending::Stop)),
        (unsaid.as_str(), RolloutAction::Wait),
    ] {
        let mut fixture = at_ten_percent(rollout);
        hold_for(&mut fixture, 600);
        let decision = hold(&mut fixture);
        assert_eq!(decision.action, action, "{rollout}");
    }
}

#[test]
fn a_hold_that_ends_before_begins_the_time_again() {
    let mut fixture = at_ten_percent(ROLLOUT);
    hold_for(&mut fixture, 590);
    let good = fixture.observe(EvidenceVerdict::Waiting);
    assert_eq!(observe(&mut fixture, &good, Killed::Never).phase, RolloutPhase::Waiting);
    assert_eq!(fixture.record.rollout.as_ref().unwrap().held_since, None);
    fixture.pass(10);
    hold_for(&mut fixture, 600);
    assert_eq!(hold(&mut fixture).action, RolloutAction::Decide(Ending::Rollback));
}

#[test]
fn a_hold_without_evidence_against_the_canary_is_not_counted() {
    let mut fixture = at_ten_percent(ROLLOUT);
    for _ in 0..120 {
        let silent = fixture.observe(EvidenceVerdict::Hold);
        let decision = observe(&mut fixture, &silent, Killed::Never);
        assert_eq!((decision.phase, decision.reason.as_str()), (RolloutPhase::Held, "Hold"));
        fixture.pass(10);
    }
}

#[test]
fn enough_evidence_for_a_rollback_is_a_failure_however_long_it_was_held() {
    let mut fixture = at_ten_percent(ROLLOUT);
    hold_for(&mut fixture, 600);
    let mut seen = doubtful(&fixture);
    seen.assessment.verdict = EvidenceVerdict::Rollback;
    observe(&mut fixture, &seen, Killed::Never);
    assert_eq!(fixture.told(), ["started", "step", "failed"]);
}

#[test]
fn drivers_that_are_killed_and_clocks_that_go_back_make_no_hold_longer() {
    for seed in 0..150 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fixture = at_ten_percent(ROLLOUT);
        // The earliest time at which a driver that was not killed has observed the hold.
        let mut first = None;
        let has_ended = (0..400).any(|_| {
            let killed = if random.u8(0..3) == 0 { Killed::BeforeTheRecord } else { Killed::Never };
            let seen = doubtful(&fixture);
            let decision = observe(&mut fixture, &seen, killed);
            let since = first.map_or(fixture.now, |first: Timestamp| first.min(fixture.now));
            let is_over = fixture.now.duration_since(since).as_secs() >= 600;
            let is_rollback = decision.action == RolloutAction::Decide(Ending::Rollback);
            assert_eq!(is_rollback, is_over, "seed {seed}: {decision:?} at {}, since {since}", fixture.now);
            if killed == Killed::Never {
                first = Some(since);
            }
            fixture.pass(random.i64(-20..40));
            is_rollback && killed == Killed::Never
        });
        assert!(has_ended, "seed {seed}: held since {first:?}, now {}", fixture.now);
    }
}

#[test]
fn a_clock_that_was_ahead_makes_no_hold_longer() {
    let mut fixture = at_ten_percent(ROLLOUT);
    fixture.pass(300);
    hold(&mut fixture);
    fixture.pass(-300);
    hold_for(&mut fixture, 600);
    assert_eq!(hold(&mut fixture).action, RolloutAction::Decide(Ending::Rollback));
}

#[test]
fn a_person_who_pauses_or_lets_it_begin_again_ends_the_hold() {
    for verb in [RolloutVerb::Pause, RolloutVerb::Retry] {
        let mut fixture = at_ten_percent(ROLLOUT);
        hold_for(&mut fixture, 590);
        let author = Author::new("ada", fixture.now);
        fixture.record.change_rollout(verb, author).unwrap();
        if verb == RolloutVerb::Pause {
            fixture.pass(3600);
            let author = Author::new("ada", fixture.now);
            fixture.record.change_rollout(RolloutVerb::Resume, author).unwrap();
        }
        let decision = hold(&mut fixture);
        assert_ne!(decision.action, RolloutAction::Decide(Ending::Rollback), "{verb:?}: {decision:?}");
        assert_eq!(fixture.record.rollout.as_ref().unwrap().held_since, Some(fixture.now), "{verb:?}");
    }
}
