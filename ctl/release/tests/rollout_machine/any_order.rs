//! Drivers that are killed anywhere, two at once, with clocks that jump and verdicts in any order.

use crate::fixture::{Killed, PLAN, RolloutFixture};
use assignment::contract::Role;
use canary_release::alert::RolloutResult;
use canary_release::evidence::EvidenceVerdict;
use canary_release::rollout::{RolloutAction, RolloutPhase};

const RUNS: u64 = 150;
const VERDICTS: [EvidenceVerdict; 4] =
    [EvidenceVerdict::Advance, EvidenceVerdict::Waiting, EvidenceVerdict::Hold, EvidenceVerdict::Rollback];

fn killed(random: &mut fastrand::Rng) -> Killed {
    match random.u8(0..6) {
        0 => Killed::BeforeTheRecord,
        1 => Killed::BeforeTheObjects,
        _ => Killed::Never,
    }
}

/// The step of a fixture, counted from 1; 0 before the first.
fn step(fixture: &RolloutFixture) -> usize {
    fixture.record.rollout.as_ref().unwrap().step.as_ref().map_or(0, |step| step.index + 1)
}

/// Whether the canary receives new users.
fn effective(fixture: &RolloutFixture) -> u32 {
    let now = u64::try_from(fixture.now.as_second()).unwrap();
    fixture.record.state.weight_at(now).into()
}

#[test]
fn no_verdict_but_the_best_raises_the_weight_and_no_step_and_no_gate_is_skipped() {
    for seed in 0..RUNS {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fixture = RolloutFixture::new(PLAN);
        for _ in 0..300 {
            let verdict = VERDICTS[random.usize(0..if seed % 2 == 0 { 4 } else { 3 })];
            if random.u8(0..40) == 0 {
                let _ = fixture.record.active_rollout().map(|rollout| rollout.approve("grace"));
            }
            let before = fixture.clone();
            let is_approved = |fixture: &RolloutFixture| {
                let rollout = fixture.record.rollout.as_ref().unwrap();
                rollout.step.as_ref().is_some_and(|step| step.approved_by.is_some())
            };
            let read = fixture.read(verdict);
            let decision = read.decision.clone();
            fixture.carry_out(read, killed(&mut random));
            if effective(&fixture) > effective(&before) {
                let worst = [EvidenceVerdict::Hold, EvidenceVerdict::Rollback];
                let begins = step(&before) == 0 && verdict != EvidenceVerdict::Rollback;
                assert!(begins || !worst.contains(&verdict), "seed {seed}: {verdict:?} {decision:?}");
            }
            if step(&fixture) > step(&before) {
                assert_eq!(step(&fixture), step(&before) + 1, "seed {seed}: {decision:?}");
                let may = match step(&before) {
                    0 => true,
                    2 => is_approved(&before),
                    _ => verdict == EvidenceVerdict::Advance,
                };
                assert!(may, "seed {seed}: from step {} by {verdict:?}: {decision:?}", step(&before));
            }
            fixture.pass(random.i64(-30..90));
        }
    }
}

/// A canary that is good, or fails from its second step on, as a function of the step alone.
fn verdict(fixture: &RolloutFixture, is_good: bool) -> EvidenceVerdict {
    if is_good || step(fixture) < 2 { EvidenceVerdict::Advance } else { EvidenceVerdict::Rollback }
}

fn result(fixture: &RolloutFixture) -> Option<RolloutResult> {
    fixture.record.rollout.as_ref().unwrap().ended.as_ref().map(|end| end.result)
}

#[test]
fn killed_anywhere_with_two_drivers_it_reaches_the_same_end() {
    for seed in 0..RUNS {
        for (is_good, end) in [(true, RolloutResult::Promoted), (false, RolloutResult::RolledBack)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut fixture = RolloutFixture::new(PLAN);
            for _ in 0..500 {
                let reads =
                    [fixture.read(verdict(&fixture, is_good)), fixture.read(verdict(&fixture, is_good))];
                for read in reads {
                    let killed = killed(&mut random);
                    fixture.carry_out(read, killed);
                }
                let _ = fixture.record.active_rollout().map(|rollout| rollout.approve("grace"));
                fixture.pass(random.i64(1..20));
            }
            assert_eq!(result(&fixture), Some(end), "seed {seed}: {:?}", fixture.writes);
            assert_eq!(
                fixture.deployed, fixture.record.state.generation,
                "seed {seed}: the objects are behind"
            );
            let promoted = fixture.record.state.version_of(Role::Stable) == Some("v2");
            assert_eq!(promoted, is_good, "seed {seed}: {:?}", fixture.record.state.versions);
            let weights: Vec<&str> = fixture.writes.iter().map(|(weight, _)| weight.as_str()).collect();
            let mut raised = weights.clone();
            raised.dedup();
            let expected = if is_good { &["1%", "10%", "50%", "0%"][..] } else { &["1%", "10%", "0%"][..] };
            assert_eq!(raised, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_clock_that_jumps_promotes_nothing_without_evidence() {
    for seed in 0..RUNS {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fixture = RolloutFixture::new(PLAN);
        for _ in 0..60 {
            fixture.tick(EvidenceVerdict::Waiting);
            fixture.pass(random.i64(-1_000..1_200));
        }
        let weight = fixture.record.state.weight.to_string();
        assert!(weight == "1%" || weight == "0%", "seed {seed}: {weight}");
        assert_ne!(result(&fixture), Some(RolloutResult::Promoted), "seed {seed}");
    }
}

#[test]
fn whatever_is_observed_an_ended_rollout_does_nothing() {
    let mut fixture = RolloutFixture::new(PLAN);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().abort("ada", now).unwrap();
    for _ in 0..3 {
        fixture.tick(EvidenceVerdict::Advance);
    }
    for verdict in VERDICTS {
        for seconds in [-1_000_000, 0, 1_000_000] {
            fixture.pass(seconds);
            let decision = fixture.decide(verdict);
            assert_eq!((decision.phase, decision.action), (RolloutPhase::Ended, RolloutAction::Wait));
        }
    }
}
