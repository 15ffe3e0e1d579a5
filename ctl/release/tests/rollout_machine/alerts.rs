//! What people are told: each transition once, in the write that makes it, whoever is killed.

use crate::fixture::{Killed, PLAN, RolloutFixture};
use canary_release::evidence::EvidenceVerdict;
use canary_release::record::{Author, Operation};
use canary_release::rollout::RolloutVerb;
use jiff::Timestamp;
use std::collections::BTreeSet;

const RUNS: u64 = 150;

/// Ticks each ten seconds for a time.
fn tick_for(fixture: &mut RolloutFixture, seconds: i64, verdict: EvidenceVerdict) {
    for _ in 0..seconds / 10 {
        fixture.tick(verdict);
        fixture.pass(10);
    }
}

fn reason(fixture: &RolloutFixture, kind: &str) -> String {
    let mut all = fixture.record.alerts.pending().iter();
    let found = all.find(|pending| pending.alert.kind.as_str() == kind);
    found.unwrap_or_else(|| panic!("expected {kind}, found {:?}", fixture.told())).alert.reason.clone()
}

#[test]
fn a_good_rollout_tells_its_start_each_step_its_gate_once_and_its_promotion() {
    let mut fixture = RolloutFixture::new(PLAN);
    tick_for(&mut fixture, 1_200, EvidenceVerdict::Advance);
    assert_eq!(fixture.told(), ["started", "step", "step", "gate"], "however long it waits");
    let now = fixture.now;
    fixture.record.change_rollout(RolloutVerb::Approve, Author::new("grace", now)).unwrap();
    tick_for(&mut fixture, 300, EvidenceVerdict::Advance);
    assert_eq!(fixture.told(), ["started", "step", "step", "gate", "step", "promoted"]);
    assert_eq!(reason(&fixture, "started"), "started by ada: 1%, 10%, 50%");
    assert!(
        reason(&fixture, "gate").starts_with("the step at 10% needs an approval"),
        "{}",
        reason(&fixture, "gate")
    );
    let steps: Vec<(String, usize)> = fixture
        .record
        .alerts
        .pending()
        .iter()
        .filter_map(|pending| Some((pending.alert.weight.to_string(), pending.alert.step?.number)))
        .collect();
    let expected = [("1%", 1), ("10%", 2), ("10%", 2), ("50%", 3), ("0%", 3)];
    assert_eq!(steps, expected.map(|(weight, number)| (weight.to_owned(), number)));
    let stable: Vec<Option<&str>> =
        fixture.record.alerts.pending().iter().map(|pending| pending.alert.stable.as_deref()).collect();
    assert_eq!(stable[4..], [Some("v1"), None], "no version is compared with itself");
}

#[test]
fn a_failure_tells_why_and_what_is_done_and_then_that_it_is_done() {
    let mut fixture = RolloutFixture::new(PLAN);
    tick_for(&mut fixture, 20, EvidenceVerdict::Advance);
    tick_for(&mut fixture, 100, EvidenceVerdict::Rollback);
    assert_eq!(fixture.told(), ["started", "step", "failed", "rolledBack"]);
    assert_eq!(reason(&fixture, "failed"), "Rollback; the canary is rolled back");
}

#[test]
fn a_failure_that_is_left_to_a_person_and_a_deadline_are_told_once() {
    let mut held = RolloutFixture::new(&format!("{PLAN}    onFailure: hold\n"));
    tick_for(&mut held, 20, EvidenceVerdict::Advance);
    tick_for(&mut held, 3_000, EvidenceVerdict::Rollback);
    assert_eq!(held.told(), ["started", "step", "failed"]);
    let now = held.now;
    held.record.change_rollout(RolloutVerb::Retry, Author::new("ada", now)).unwrap();
    tick_for(&mut held, 60, EvidenceVerdict::Rollback);
    assert_eq!(held.told(), ["started", "step", "failed", "resumed", "failed"], "told again after a retry");

    let mut late = RolloutFixture::new(&format!("{PLAN}    onFailure: stop\n"));
    tick_for(&mut late, 20, EvidenceVerdict::Advance);
    late.pass(2 * 3_600);
    // Its weight has expired meanwhile.
    tick_for(&mut late, 60, EvidenceVerdict::Advance);
    assert_eq!(late.told(), ["started", "step", "deadline", "stopped"]);
    assert_eq!(
        reason(&late, "deadline"),
        "the deadline of 2h has passed; nothing speaks against the canary: Advance; the canary receives no new users"
    );
}

#[test]
fn a_rollout_that_does_not_go_on_is_told_after_its_time_and_again_only_after_it_went_on() {
    let mut fixture = RolloutFixture::new(&format!("{PLAN}    stalledAfter: 5m\n"));
    tick_for(&mut fixture, 10, EvidenceVerdict::Advance);
    tick_for(&mut fixture, 300, EvidenceVerdict::Hold);
    assert_eq!(fixture.told(), ["started", "step"], "not yet");
    // A hold and too little to see are the same to who waits.
    tick_for(&mut fixture, 600, EvidenceVerdict::Waiting);
    assert_eq!(fixture.told(), ["started", "step", "stalled"], "once");
    assert_eq!(reason(&fixture, "stalled"), "for 5m: Waiting");
    tick_for(&mut fixture, 100, EvidenceVerdict::Advance);
    tick_for(&mut fixture, 400, EvidenceVerdict::Hold);
    assert_eq!(fixture.told(), ["started", "step", "stalled", "step", "stalled"]);
}

#[test]
fn within_a_step_too_a_rollout_stalls_again_after_it_went_on_and_not_when_it_goes_on() {
    let plan = "  rollout:\n    plans: {default: [{weight: 10, hold: 5h}]}\n    stalledAfter: 5m\n";
    let mut fixture = RolloutFixture::new(plan);
    tick_for(&mut fixture, 10, EvidenceVerdict::Advance);
    tick_for(&mut fixture, 300, EvidenceVerdict::Hold);
    tick_for(&mut fixture, 60, EvidenceVerdict::Advance);
    assert_eq!(fixture.told(), ["started", "step"], "it went on in time");
    for _ in 0..2 {
        tick_for(&mut fixture, 400, EvidenceVerdict::Hold);
        tick_for(&mut fixture, 60, EvidenceVerdict::Advance);
    }
    assert_eq!(fixture.told(), ["started", "step", "stalled", "stalled"]);
}

#[test]
fn what_people_do_is_told_in_the_write_that_they_make() {
    let mut fixture = RolloutFixture::new(PLAN);
    tick_for(&mut fixture, 20, EvidenceVerdict::Advance);
    let now = fixture.now;
    for verb in [RolloutVerb::Pause, RolloutVerb::Pause, RolloutVerb::Resume, RolloutVerb::Resume] {
        fixture.record.change_rollout(verb, Author::new("ada", now)).unwrap();
    }
    assert_eq!(fixture.told()[2..], ["suspended", "resumed"], "what changes nothing is not told");
    for weight in ["5", "7"] {
        fixture.record.set_weight(
            weight.parse().unwrap(),
            None,
            Author::new("bob", Timestamp::now()),
            Operation::Weight,
        );
    }
    assert_eq!(fixture.told()[4..], ["suspended"], "by a weight of his own, once");
    fixture.record.change_rollout(RolloutVerb::Abort, Author::new("ada", now)).unwrap();
    assert_eq!(reason(&fixture, "aborted"), "aborted by ada; the canary is rolled back");
    fixture.deployed = fixture.record.state.generation;
    tick_for(&mut fixture, 60, EvidenceVerdict::Advance);
    assert_eq!(fixture.told()[5..], ["aborted", "rolledBack"]);

    let mut observing = RolloutFixture::new(&format!("{PLAN}    observe: true\n"));
    tick_for(&mut observing, 60, EvidenceVerdict::Rollback);
    observing.record.change_rollout(RolloutVerb::Abort, Author::new("ada", now)).unwrap();
    assert_eq!(observing.told(), ["started", "failed", "observed"]);
}

fn killed(random: &mut fastrand::Rng) -> Killed {
    match random.u8(0..5) {
        0 => Killed::BeforeTheRecord,
        1 => Killed::BeforeTheObjects,
        _ => Killed::Never,
    }
}

#[test]
fn killed_anywhere_with_two_drivers_the_same_is_told_and_each_alert_has_an_id_of_its_own() {
    for seed in 0..RUNS {
        for (is_good, expected) in [
            (true, &["started", "step", "step", "gate", "step", "promoted"][..]),
            (false, &["started", "step", "step", "failed", "rolledBack"][..]),
        ] {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut fixture = RolloutFixture::new(PLAN);
            for _ in 0..500 {
                let step =
                    fixture.record.rollout.as_ref().unwrap().step.as_ref().map_or(0, |step| step.index);
                let verdict =
                    if is_good || step < 1 { EvidenceVerdict::Advance } else { EvidenceVerdict::Rollback };
                for read in [fixture.read(verdict), fixture.read(verdict)] {
                    let killed = killed(&mut random);
                    fixture.carry_out(read, killed);
                }
                if fixture.told().contains(&"gate") {
                    let _ = fixture.record.active_rollout().map(|rollout| rollout.approve("grace"));
                }
                fixture.pass(random.i64(1..20));
            }
            assert_eq!(fixture.told(), expected, "seed {seed}");
            let ids: BTreeSet<String> =
                fixture.record.alerts.pending().iter().map(|pending| pending.alert.id.clone()).collect();
            let seconds = fixture.record.alerts.pending()[0].alert.at.as_second();
            let all = (1..=expected.len()).map(|number| format!("uid-{seconds}-{number}")).collect();
            assert_eq!(ids, all, "seed {seed}");
        }
    }
}
