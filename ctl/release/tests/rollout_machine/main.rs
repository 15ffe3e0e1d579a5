//! The machine of a rollout: what it does with each verdict, at any time, killed anywhere.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod alerts;
mod any_order;
mod deadline;
mod dependencies;
mod earlier_records;
mod fixture;
mod fuses;
mod hooks;
mod max_held;
mod metrics;
mod scaled_down;
mod trains;
mod verbs;
mod windows;

use assignment::contract::{ExpiryAction, Role, Until};
use canary_release::alert::RolloutResult;
use canary_release::evidence::{
    EvidenceVerdict, GROUPS, GroupCounts, IntervalCounts, ProxyCoverage, TrainReport, VersionCounts,
};
use canary_release::record::{Author, Operation};
use canary_release::rollout::{Ending, InnerIntervals, RolloutAction, RolloutPhase, VerbError};
use fixture::{Killed, PLAN, RolloutFixture};
use jiff::Timestamp;

const NO_GATE: &str = "  rollout:\n    plans: {default: [{weight: 10, hold: 1m}]}\n";

fn result(fixture: &RolloutFixture) -> Option<RolloutResult> {
    fixture.record.rollout.as_ref().unwrap().ended.as_ref().map(|end| end.result)
}

#[test]
fn a_good_canary_goes_through_the_plan_and_is_promoted() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().approve("grace").unwrap();
    fixture.run_until_weight("50%", EvidenceVerdict::Advance);
    for _ in 0..12 {
        fixture.tick(EvidenceVerdict::Advance);
        fixture.pass(10);
    }
    assert_eq!(result(&fixture), Some(RolloutResult::Promoted), "{:?}", fixture.writes);
    assert_eq!(
        fixture.record.state.version_of(Role::Stable),
        Some("v2"),
        "{:?}",
        fixture.record.state.versions
    );
    assert_eq!(fixture.record.state.rollout_since_seconds, 0, "proxies count by user group no more");
    let history = fixture.record.history.entries();
    assert!(history.iter().all(|entry| entry.at <= fixture.now), "the clock of the driver: {history:?}");
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Wait);
}

/// An interval with so many responses of each user group, of the canary and of stable; none fails.
fn interval(canary: u64, stable: u64) -> IntervalCounts {
    let counts = |each| GroupCounts::new([each; GROUPS], [0; GROUPS]);
    let server_errors = VersionCounts { canary: counts(canary), stable: counts(stable) };
    IntervalCounts { server_errors, ..IntervalCounts::default() }
}

#[test]
fn a_step_says_what_its_traffic_can_show_in_its_time_and_more_traffic_shows_more() {
    let forecast = |times: u64| {
        let mut fixture = RolloutFixture::new(NO_GATE);
        fixture.tick(EvidenceVerdict::Advance);
        let rollout = fixture.record.rollout.as_mut().unwrap();
        rollout.evidence.add(&interval(times, 9 * times));
        fixture.pass(20);
        fixture.record.rollout.as_ref().unwrap().forecast(fixture.now)
    };
    assert_eq!(forecast(0), None, "before the first response");
    let mut alone = RolloutFixture::new(NO_GATE);
    alone.tick(EvidenceVerdict::Advance);
    alone.record.rollout.as_mut().unwrap().evidence.add(&interval(200, 0));
    alone.pass(20);
    assert_eq!(alone.record.rollout.as_ref().unwrap().forecast(alone.now), None, "nothing to compare with");
    let (little, much) = (forecast(2).unwrap(), forecast(200).unwrap());
    // 16 groups of 20 responses in 20 seconds.
    assert!((little.responses_per_second - 16.0).abs() < 1e-9, "{little:?}");
    let (rare, frequent) = (much.least_rate.unwrap(), little.least_rate.unwrap());
    assert!((0.0..0.01).contains(&rare) && (0.02..0.5).contains(&frequent), "{much} and {little}");
    let text =
        format!("16.0 responses/s show a canary that fails {:.1}% or more within 1m", frequent * 100.0);
    assert_eq!(little.to_string(), text);
}

#[test]
fn a_step_may_ask_for_other_responses_than_the_rollout() {
    let plan = "  rollout:
    plans: {default: [{weight: 10, hold: 1m, minResponses: 160}, {weight: 20, hold: 1m}]}
    minResponses: 320
";
    let mut fixture = RolloutFixture::new(plan);
    for (weight, each, verdict) in [
        ("10%", 9, EvidenceVerdict::Waiting),
        ("10%", 1, EvidenceVerdict::Advance),
        ("20%", 19, EvidenceVerdict::Waiting),
        ("20%", 1, EvidenceVerdict::Advance),
    ] {
        fixture.run_until_weight(weight, EvidenceVerdict::Advance);
        let rollout = fixture.record.rollout.as_mut().unwrap();
        rollout.evidence.add(&interval(each, 9 * each));
        let found = rollout.assess(ProxyCoverage { observed: 1, of: 1 }, TrainReport::default());
        assert_eq!(found.verdict, verdict, "{weight}: {}", found.reason);
    }
}

#[test]
fn each_step_lasts_its_time_and_says_what_is_left() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.pass(59);
    let decision = fixture.decide(EvidenceVerdict::Advance);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Progressing, RolloutAction::Wait));
    assert_eq!(decision.reason, "the step at 10% has 1s left");
    fixture.pass(1);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Decide(Ending::Promote));
}

#[test]
fn a_worse_canary_is_rolled_back_stopped_or_held_as_the_file_says() {
    for (setting, end) in [
        ("rollback", Some(RolloutResult::RolledBack)),
        ("stop", Some(RolloutResult::Stopped)),
        ("hold", None),
    ] {
        let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    onFailure: {setting}\n"));
        fixture.tick(EvidenceVerdict::Advance);
        for _ in 0..5 {
            fixture.tick(EvidenceVerdict::Rollback);
            fixture.pass(10);
        }
        assert_eq!(result(&fixture), end, "{setting}: {:?}", fixture.writes);
        let weight = fixture.record.state.weight.to_string();
        assert_eq!(weight, if setting == "hold" { "10%" } else { "0%" }, "{setting}");
        if setting == "stop" {
            assert_eq!(fixture.record.state.until, None, "nothing more happens to a weight of 0");
        }
        if setting == "hold" {
            assert_eq!(fixture.decide(EvidenceVerdict::Rollback).phase, RolloutPhase::Held);
        }
    }
}

#[test]
fn a_gate_needs_a_person_and_a_person_does_not_overrule_the_evidence() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    fixture.pass(3_00);
    let waiting = fixture.decide(EvidenceVerdict::Advance);
    assert_eq!(waiting.phase, RolloutPhase::Waiting);
    assert!(waiting.reason.starts_with("the step at 10% needs an approval"), "{}", waiting.reason);
    fixture.record.active_rollout().unwrap().approve("grace").unwrap();
    assert_eq!(fixture.decide(EvidenceVerdict::Hold).phase, RolloutPhase::Held);
    // Few responses are no reason against: the person has decided that.
    assert_eq!(fixture.decide(EvidenceVerdict::Waiting).action, RolloutAction::EnterStep(2));
}

#[test]
fn proxies_that_say_nothing_do_not_keep_a_rollout_from_its_first_step() {
    let fixture = RolloutFixture::new(NO_GATE);
    assert_eq!(fixture.decide(EvidenceVerdict::Hold).action, RolloutAction::EnterStep(0));
}

#[test]
fn only_a_gate_is_approved() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    let rollout = fixture.record.active_rollout().unwrap();
    let none = VerbError::NoGate { found: "none".to_owned() };
    assert_eq!(rollout.approve("grace"), Err(none));
    fixture.tick(EvidenceVerdict::Advance);
    let step = VerbError::NoGate { found: "the step at 10%".to_owned() };
    assert_eq!(fixture.record.active_rollout().unwrap().approve("grace"), Err(step));
}

#[test]
fn a_weight_by_hand_suspends_and_resuming_sets_the_step_again() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.set_weight(
        "3".parse().unwrap(),
        None,
        Author::new("ada", Timestamp::now()),
        Operation::Weight,
    );
    fixture.deployed = fixture.record.state.generation;
    for _ in 0..20 {
        let decision = fixture.tick(EvidenceVerdict::Advance);
        assert_eq!((decision.phase, decision.action), (RolloutPhase::Suspended, RolloutAction::Wait));
        assert_eq!(decision.reason, "suspended: ada has set a weight");
        fixture.pass(600);
    }
    assert_eq!(fixture.decide(EvidenceVerdict::Rollback).phase, RolloutPhase::Suspended, "a person decides");
    let now = fixture.now;
    let rollout = fixture.record.active_rollout().unwrap();
    rollout.started_at = now;
    rollout.resume(now).unwrap();
    assert_eq!(
        fixture.decide(EvidenceVerdict::Hold).action,
        RolloutAction::Wait,
        "a weight by hand gets no expiry"
    );
    let decision = fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
    assert_eq!(fixture.record.state.weight.to_string(), "10%");
}

#[test]
fn a_weight_is_renewed_when_half_of_its_time_is_over() {
    let plan = "  rollout:\n    plans: {default: [{weight: 10, hold: 1h}]}\n    expiresIn: 10m\n";
    let mut fixture = RolloutFixture::new(plan);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.pass(299);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Wait);
    fixture.pass(1);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Renew);
}

#[test]
fn the_machines_own_weight_does_not_suspend_it() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(fixture.record.rollout.as_ref().unwrap().suspended, None);
}

#[test]
fn a_pause_keeps_the_weight_from_expiring_and_goes_on_with_the_same_step() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().pause("ada").unwrap();
    for _ in 0..30 {
        let decision = fixture.tick(EvidenceVerdict::Advance);
        assert_eq!(decision.phase, RolloutPhase::Suspended);
        fixture.pass(60);
    }
    let until = fixture.record.state.until.unwrap().at_seconds;
    assert!(until > u64::try_from(fixture.now.as_second()).unwrap(), "{until}: it has expired");
    assert!(fixture.writes.iter().all(|(weight, _)| weight == "1%"), "{:?}", fixture.writes);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().resume(now).unwrap();
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).reason, "the step at 1% has 60s left");
}

/// Sessions are compared with those of their own step: of the step that was entered last, and no other write begins one.
#[test]
fn the_proxies_count_sessions_from_the_second_of_each_step_on() {
    let mut fixture = RolloutFixture::new(PLAN);
    let since = |fixture: &RolloutFixture| fixture.record.state.rollout_since_seconds;
    let now = |fixture: &RolloutFixture| u64::try_from(fixture.now.as_second()).unwrap();
    let started = now(&fixture);
    assert_eq!(since(&fixture), started);
    fixture.pass(25);
    for percent in ["1%", "10%", "50%"] {
        let generation = fixture.record.state.generation;
        while fixture.record.state.weight.to_string() != percent {
            let _ = fixture.record.active_rollout().unwrap().approve("grace");
            let before = since(&fixture);
            fixture.tick(EvidenceVerdict::Advance);
            if fixture.record.state.weight.to_string() != percent {
                assert_eq!(since(&fixture), before, "{percent}");
                fixture.pass(10);
            }
        }
        assert_eq!(since(&fixture), now(&fixture), "{percent}");
        assert_eq!(fixture.record.state.generation, generation + 1, "{percent}: one write");
        fixture.pass(10);
    }
    let step = since(&fixture);
    fixture.record.active_rollout().unwrap().pause("ada").unwrap();
    let mut renewals = 0;
    for _ in 0..30 {
        renewals += u32::from(fixture.tick(EvidenceVerdict::Advance).action == RolloutAction::Renew);
        fixture.pass(60);
    }
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().resume(now).unwrap();
    fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!(
        (since(&fixture), renewals > 0),
        (step, true),
        "a renewal, a pause and a resume begin no step"
    );
}

#[test]
fn a_step_whose_driver_died_expires_and_the_next_driver_sets_it_again() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.pass(600);
    assert_eq!(
        fixture.decide(EvidenceVerdict::Waiting).action,
        RolloutAction::EnterStep(0),
        "in this very second"
    );
    fixture.pass(1);
    let until = fixture.record.state.until.unwrap();
    assert!(
        until.at_seconds <= u64::try_from(fixture.now.as_second()).unwrap(),
        "no user is on the canary any more"
    );
    assert_eq!(
        fixture.decide(EvidenceVerdict::Hold).action,
        RolloutAction::Wait,
        "a hold brings nobody back"
    );
    let decision = fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
    assert_eq!(decision.reason, "the weight has expired: no driver has renewed it");
}

#[test]
fn where_expiry_is_a_rollback_the_next_driver_does_not_bring_the_canary_back() {
    let mut fixture = RolloutFixture::new(&PLAN.replace("onExpiry: stop", "onExpiry: rollback"));
    let expired = u64::try_from(fixture.now.as_second()).unwrap() - 1;
    let mut before = fixture.clone();
    before.record.state.until = Some(Until { at_seconds: expired, action: ExpiryAction::Rollback });
    let decision = before.decide(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "that was no weight of the rollout");
    fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Wait, "not before");
    fixture.pass(601);
    for _ in 0..4 {
        fixture.tick(EvidenceVerdict::Advance);
    }
    assert_eq!(result(&fixture), Some(RolloutResult::RolledBack), "{:?}", fixture.writes);
}

#[test]
fn a_rollout_that_observes_writes_no_weight() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    observe: true\n    deadline: 1h\n"));
    fixture.record.set_weight(
        "20".parse().unwrap(),
        None,
        Author::new("ada", Timestamp::now()),
        Operation::Apply,
    );
    fixture.deployed = fixture.record.state.generation;
    for verdict in [EvidenceVerdict::Waiting, EvidenceVerdict::Rollback, EvidenceVerdict::Advance].repeat(100)
    {
        let decision = fixture.tick(verdict);
        let is_worse = decision.reason == "a rollout that acts would end here: Rollback";
        assert_eq!(
            is_worse,
            verdict == EvidenceVerdict::Rollback && result(&fixture).is_none(),
            "{decision:?}"
        );
        fixture.pass(13);
    }
    assert_eq!(fixture.writes, []);
    assert_eq!(result(&fixture), Some(RolloutResult::Observed));
}

#[test]
fn where_a_person_promotes_the_weight_stays_without_an_end() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    onSuccess: wait\n"));
    for _ in 0..10 {
        fixture.tick(EvidenceVerdict::Advance);
        fixture.pass(10);
    }
    assert_eq!(result(&fixture), Some(RolloutResult::Completed));
    assert_eq!((fixture.record.state.weight.to_string().as_str(), fixture.record.state.until), ("10%", None));
    fixture.pass(200_000);
    assert_eq!(fixture.decide(EvidenceVerdict::Rollback).action, RolloutAction::Wait);
}

#[test]
fn a_role_change_by_hand_ends_it() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    let mut rolled_back = fixture.clone();
    fixture.record.promote(fixture.now, Author::new("ada", Timestamp::now()));
    fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!(result(&fixture), Some(RolloutResult::Promoted));
    let target = rolled_back.record.to_roll_back().unwrap();
    rolled_back.record.roll_back(&target, None, Author::new("ada", Timestamp::now()));
    rolled_back.tick(EvidenceVerdict::Waiting);
    assert_eq!(result(&rolled_back), Some(RolloutResult::RolledBack));
}

#[test]
fn abort_promote_and_retry_are_recorded_and_carried_out() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    let mut promoted = fixture.clone();
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().abort("ada", now).unwrap();
    promoted.record.active_rollout().unwrap().promote_now("ada").unwrap();
    for fixture in [&mut fixture, &mut promoted] {
        let again = fixture.record.active_rollout().unwrap().pause("grace");
        assert!(matches!(again, Err(VerbError::Ending { .. })), "{again:?}");
        let rollout = fixture.record.active_rollout().unwrap();
        let again = [rollout.abort("grace", now), rollout.promote_now("grace")];
        assert!(again.iter().all(|again| matches!(again, Err(VerbError::Ending { .. }))), "{again:?}");
        fixture.tick(EvidenceVerdict::Rollback);
        fixture.tick(EvidenceVerdict::Rollback);
    }
    assert_eq!(
        (result(&fixture), result(&promoted)),
        (Some(RolloutResult::RolledBack), Some(RolloutResult::Promoted))
    );
    assert!(matches!(fixture.record.active_rollout(), Err(VerbError::NotActive { .. })));
}

#[test]
fn a_retry_forgets_the_evidence_and_begins_the_step_anew() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    assert!(fixture.record.add_evidence(0, &IntervalCounts::default(), &InnerIntervals::new()));
    fixture.pass(50);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().retry(now).unwrap();
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).reason, "the step at 10% has 60s left");
    assert!(
        !fixture.record.add_evidence(1, &IntervalCounts::default(), &InnerIntervals::new()),
        "it was counted before"
    );
}

#[test]
fn two_drivers_count_no_interval_twice() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    let known = fixture.record.rollout.as_ref().unwrap().evidence.intervals;
    assert!(fixture.record.add_evidence(known, &IntervalCounts::default(), &InnerIntervals::new()));
    assert!(
        !fixture.record.add_evidence(known, &IntervalCounts::default(), &InnerIntervals::new()),
        "another driver was first"
    );
    assert_eq!(fixture.record.rollout.as_ref().unwrap().evidence.intervals, known + 1);
}

#[test]
fn a_write_that_was_killed_before_the_objects_is_continued() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    let read = fixture.read(EvidenceVerdict::Advance);
    fixture.carry_out(read, Killed::BeforeTheObjects);
    assert_ne!(fixture.deployed, fixture.record.state.generation);
    let decision = fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::Deploy);
    assert_eq!(fixture.deployed, fixture.record.state.generation);
}

#[test]
fn an_end_that_was_killed_before_the_objects_is_continued() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    onSuccess: wait\n"));
    fixture.tick(EvidenceVerdict::Advance);
    fixture.pass(60);
    let read = fixture.read(EvidenceVerdict::Advance);
    fixture.carry_out(read, Killed::BeforeTheObjects);
    assert_eq!(result(&fixture), Some(RolloutResult::Completed));
    assert_eq!(fixture.tick(EvidenceVerdict::Advance).action, RolloutAction::Deploy);
    assert_eq!(fixture.tick(EvidenceVerdict::Advance).action, RolloutAction::Wait);
}

#[test]
fn there_is_one_rollout_of_a_canary_and_its_plan_exists() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    let spec = canary_release::spec::RolloutSpec::default();
    let again = fixture.record.start_rollout(&spec, "default", Author::new("grace", fixture.now));
    let active = VerbError::AlreadyActive { canary: "v2".to_owned(), by: "ada".to_owned() };
    assert_eq!(again, Err(active));
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().abort("ada", now).unwrap();
    for _ in 0..3 {
        fixture.tick(EvidenceVerdict::Advance);
    }
    let over = fixture.record.start_rollout(&spec, "default", Author::new("grace", fixture.now));
    assert_eq!(over, Err(VerbError::NoCanary), "it was rolled back");
    let error = RolloutFixture::new(NO_GATE).record.active_rollout().map(|rollout| rollout.abort("ada", now));
    assert_eq!(error, Ok(Ok(())));
}

#[test]
fn a_record_with_a_rollout_is_read_as_it_was_written() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    let json = fixture.record.to_json().unwrap();
    assert_eq!(
        canary_release::record::Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap(),
        fixture.record
    );
}
