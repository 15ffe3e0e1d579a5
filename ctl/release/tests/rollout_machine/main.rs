//! The machine of a rollout: what it does with each verdict, at any time, killed anywhere.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod any_order;
mod world;

use canary_release::evidence::{EvidenceVerdict, IntervalCounts};
use canary_release::record::Operation;
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase, RolloutResult, VerbError};
use world::{Killed, PLAN, World};

const NO_GATE: &str = "  rollout:\n    plans: {default: [{weight: 10, hold: 1m}]}\n";

fn result(world: &World) -> Option<RolloutResult> {
    world.record.rollout.as_ref().unwrap().ended.as_ref().map(|end| end.result)
}

#[test]
fn a_good_canary_goes_through_the_plan_and_is_promoted() {
    let mut world = World::new(PLAN);
    world.run_until_weight("10%", EvidenceVerdict::Advance);
    world.record.active_rollout().unwrap().approve("grace").unwrap();
    world.run_until_weight("50%", EvidenceVerdict::Advance);
    for _ in 0..12 {
        world.tick(EvidenceVerdict::Advance);
        world.pass(10);
    }
    assert_eq!(result(&world), Some(RolloutResult::Promoted), "{:?}", world.writes);
    assert_eq!(world.record.state.versions[0].name, "v2", "{:?}", world.record.state.versions);
    assert_eq!(world.decide(EvidenceVerdict::Advance).action, RolloutAction::Wait);
}

#[test]
fn each_step_lasts_its_time_and_says_what_is_left() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    world.pass(59);
    let decision = world.decide(EvidenceVerdict::Advance);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Progressing, RolloutAction::Wait));
    assert_eq!(decision.reason, "the step at 10% has 1s left");
    world.pass(1);
    assert_eq!(world.decide(EvidenceVerdict::Advance).action, RolloutAction::Decide(Ending::Promote));
}

#[test]
fn too_little_evidence_waits_until_the_deadline_which_is_a_failure() {
    let mut world = World::new(&format!("{NO_GATE}    deadline: 1h\n"));
    for _ in 0..60 {
        world.tick(EvidenceVerdict::Waiting);
        world.pass(60);
    }
    let waiting = world.decide(EvidenceVerdict::Waiting);
    assert_eq!(waiting.phase, RolloutPhase::Waiting);
    world.pass(1);
    let late = world.decide(EvidenceVerdict::Advance);
    assert_eq!(late.action, RolloutAction::Decide(Ending::Rollback));
    assert_eq!(late.reason, "the deadline of 1h has passed");
}

#[test]
fn a_worse_canary_is_rolled_back_stopped_or_held_as_the_file_says() {
    for (setting, end) in [
        ("rollback", Some(RolloutResult::RolledBack)),
        ("stop", Some(RolloutResult::Stopped)),
        ("hold", None),
    ] {
        let mut world = World::new(&format!("{NO_GATE}    onFailure: {setting}\n"));
        world.tick(EvidenceVerdict::Advance);
        for _ in 0..5 {
            world.tick(EvidenceVerdict::Rollback);
            world.pass(10);
        }
        assert_eq!(result(&world), end, "{setting}: {:?}", world.writes);
        let weight = world.record.state.weight.to_string();
        assert_eq!(weight, if setting == "hold" { "10%" } else { "0%" }, "{setting}");
        if setting == "hold" {
            assert_eq!(world.decide(EvidenceVerdict::Rollback).phase, RolloutPhase::Held);
        }
    }
}

#[test]
fn a_gate_needs_a_person_and_a_person_does_not_overrule_the_evidence() {
    let mut world = World::new(PLAN);
    world.run_until_weight("10%", EvidenceVerdict::Advance);
    world.pass(3_00);
    let waiting = world.decide(EvidenceVerdict::Advance);
    assert_eq!(waiting.phase, RolloutPhase::Waiting);
    assert!(waiting.reason.starts_with("the step at 10% needs an approval"), "{}", waiting.reason);
    world.record.active_rollout().unwrap().approve("grace").unwrap();
    assert_eq!(world.decide(EvidenceVerdict::Hold).phase, RolloutPhase::Held);
    // Few responses are no reason against: the person has decided that.
    assert_eq!(world.decide(EvidenceVerdict::Waiting).action, RolloutAction::EnterStep(2));
}

#[test]
fn only_a_gate_is_approved() {
    let mut world = World::new(NO_GATE);
    let rollout = world.record.active_rollout().unwrap();
    let none = VerbError::NoGate { found: "none".to_owned() };
    assert_eq!(rollout.approve("grace"), Err(none));
    world.tick(EvidenceVerdict::Advance);
    let step = VerbError::NoGate { found: "the step at 10%".to_owned() };
    assert_eq!(world.record.active_rollout().unwrap().approve("grace"), Err(step));
}

#[test]
fn a_weight_by_hand_suspends_and_resuming_sets_the_step_again() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    world.record.set_weight("3".parse().unwrap(), None, "ada", Operation::Weight);
    world.deployed = world.record.state.generation;
    for _ in 0..20 {
        let decision = world.tick(EvidenceVerdict::Advance);
        assert_eq!((decision.phase, decision.action), (RolloutPhase::Suspended, RolloutAction::Wait));
        assert_eq!(decision.reason, "suspended: ada has set a weight");
        world.pass(600);
    }
    let now = world.now;
    let rollout = world.record.active_rollout().unwrap();
    rollout.started_at = now;
    rollout.resume(now).unwrap();
    let decision = world.tick(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
    assert_eq!(world.record.state.weight.to_string(), "10%");
}

#[test]
fn the_machines_own_weight_does_not_suspend_it() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    assert_eq!(world.record.rollout.as_ref().unwrap().suspended, None);
}

#[test]
fn a_pause_keeps_the_weight_from_expiring_and_goes_on_with_the_same_step() {
    let mut world = World::new(PLAN);
    world.tick(EvidenceVerdict::Advance);
    world.record.active_rollout().unwrap().pause("ada").unwrap();
    for _ in 0..30 {
        let decision = world.tick(EvidenceVerdict::Advance);
        assert_eq!(decision.phase, RolloutPhase::Suspended);
        world.pass(60);
    }
    let until = world.record.state.until.unwrap().at_seconds;
    assert!(until > u64::try_from(world.now.as_second()).unwrap(), "{until}: it has expired");
    assert!(world.writes.iter().all(|(weight, _)| weight == "1%"), "{:?}", world.writes);
    let now = world.now;
    world.record.active_rollout().unwrap().resume(now).unwrap();
    assert_eq!(world.decide(EvidenceVerdict::Advance).reason, "the step at 1% has 60s left");
}

#[test]
fn a_step_whose_driver_died_expires_and_the_next_driver_sets_it_again() {
    let mut world = World::new(PLAN);
    world.tick(EvidenceVerdict::Advance);
    world.pass(601);
    let until = world.record.state.until.unwrap();
    assert!(
        until.at_seconds <= u64::try_from(world.now.as_second()).unwrap(),
        "no user is on the canary any more"
    );
    assert_eq!(world.decide(EvidenceVerdict::Hold).action, RolloutAction::Wait, "a hold brings nobody back");
    let decision = world.tick(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
    assert_eq!(decision.reason, "the weight has expired: no driver has renewed it");
}

#[test]
fn where_expiry_is_a_rollback_the_next_driver_does_not_bring_the_canary_back() {
    let mut world = World::new(&PLAN.replace("onExpiry: stop", "onExpiry: rollback"));
    world.tick(EvidenceVerdict::Advance);
    world.pass(601);
    for _ in 0..4 {
        world.tick(EvidenceVerdict::Advance);
    }
    assert_eq!(result(&world), Some(RolloutResult::RolledBack), "{:?}", world.writes);
}

#[test]
fn a_rollout_that_observes_writes_no_weight() {
    let mut world = World::new(&format!("{NO_GATE}    observe: true\n    deadline: 1h\n"));
    world.record.set_weight("20".parse().unwrap(), None, "ada", Operation::Apply);
    world.deployed = world.record.state.generation;
    for verdict in [EvidenceVerdict::Waiting, EvidenceVerdict::Rollback, EvidenceVerdict::Advance].repeat(100)
    {
        let decision = world.tick(verdict);
        let is_worse = decision.reason == "a rollout that acts would end here: Rollback";
        assert_eq!(
            is_worse,
            verdict == EvidenceVerdict::Rollback && result(&world).is_none(),
            "{decision:?}"
        );
        world.pass(13);
    }
    assert_eq!(world.writes, []);
    assert_eq!(result(&world), Some(RolloutResult::Observed));
}

#[test]
fn where_a_person_promotes_the_weight_stays_without_an_end() {
    let mut world = World::new(&format!("{NO_GATE}    onSuccess: wait\n"));
    for _ in 0..10 {
        world.tick(EvidenceVerdict::Advance);
        world.pass(10);
    }
    assert_eq!(result(&world), Some(RolloutResult::Completed));
    assert_eq!((world.record.state.weight.to_string().as_str(), world.record.state.until), ("10%", None));
    world.pass(200_000);
    assert_eq!(world.decide(EvidenceVerdict::Rollback).action, RolloutAction::Wait);
}

#[test]
fn a_role_change_by_hand_ends_it() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    let mut rolled_back = world.clone();
    world.record.promote(world.now, "ada");
    world.tick(EvidenceVerdict::Waiting);
    assert_eq!(result(&world), Some(RolloutResult::Promoted));
    let target = rolled_back.record.to_roll_back().unwrap();
    rolled_back.record.roll_back(&target, None, "ada");
    rolled_back.tick(EvidenceVerdict::Waiting);
    assert_eq!(result(&rolled_back), Some(RolloutResult::RolledBack));
}

#[test]
fn abort_promote_and_retry_are_recorded_and_carried_out() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    let mut promoted = world.clone();
    let now = world.now;
    world.record.active_rollout().unwrap().abort("ada", now).unwrap();
    promoted.record.active_rollout().unwrap().promote_now("ada").unwrap();
    for world in [&mut world, &mut promoted] {
        let again = world.record.active_rollout().unwrap().pause("grace");
        assert!(matches!(again, Err(VerbError::Ending { .. })), "{again:?}");
        world.tick(EvidenceVerdict::Rollback);
        world.tick(EvidenceVerdict::Rollback);
    }
    assert_eq!(
        (result(&world), result(&promoted)),
        (Some(RolloutResult::RolledBack), Some(RolloutResult::Promoted))
    );
    assert!(matches!(world.record.active_rollout(), Err(VerbError::NotActive { .. })));
}

#[test]
fn a_retry_forgets_the_evidence_and_begins_the_step_anew() {
    let mut world = World::new(NO_GATE);
    world.tick(EvidenceVerdict::Advance);
    assert!(world.record.add_evidence(0, &IntervalCounts::default()));
    world.pass(50);
    let now = world.now;
    world.record.active_rollout().unwrap().retry(now).unwrap();
    assert_eq!(world.decide(EvidenceVerdict::Advance).reason, "the step at 10% has 60s left");
    assert!(!world.record.add_evidence(1, &IntervalCounts::default()), "it was counted before");
}

#[test]
fn two_drivers_count_no_interval_twice() {
    let mut world = World::new(NO_GATE);
    let known = world.record.rollout.as_ref().unwrap().evidence.intervals;
    assert!(world.record.add_evidence(known, &IntervalCounts::default()));
    assert!(!world.record.add_evidence(known, &IntervalCounts::default()), "another driver was first");
    assert_eq!(world.record.rollout.as_ref().unwrap().evidence.intervals, known + 1);
}

#[test]
fn a_write_that_was_killed_before_the_objects_is_continued() {
    let mut world = World::new(NO_GATE);
    let read = world.read(EvidenceVerdict::Advance);
    world.carry_out(read, Killed::BeforeTheObjects);
    assert_ne!(world.deployed, world.record.state.generation);
    let decision = world.tick(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::Deploy);
    assert_eq!(world.deployed, world.record.state.generation);
}

#[test]
fn there_is_one_rollout_of_a_canary_and_its_plan_exists() {
    let mut world = World::new(NO_GATE);
    let spec = canary_release::spec::RolloutSpec::default();
    let again = world.record.start_rollout(&spec, "default", "grace", world.now);
    let active = VerbError::AlreadyActive { canary: "v2".to_owned(), by: "ada".to_owned() };
    assert_eq!(again, Err(active));
    let now = world.now;
    world.record.active_rollout().unwrap().abort("ada", now).unwrap();
    for _ in 0..3 {
        world.tick(EvidenceVerdict::Advance);
    }
    let over = world.record.start_rollout(&spec, "default", "grace", world.now);
    assert_eq!(over, Err(VerbError::NoCanary), "it was rolled back");
    let error = World::new(NO_GATE).record.active_rollout().map(|rollout| rollout.abort("ada", now));
    assert_eq!(error, Ok(Ok(())));
}

#[test]
fn a_record_with_a_rollout_is_read_as_it_was_written() {
    let mut world = World::new(PLAN);
    world.run_until_weight("10%", EvidenceVerdict::Advance);
    let json = world.record.to_json().unwrap();
    assert_eq!(canary_release::record::Record::parse(&json).unwrap(), world.record);
}
