//! Lost sessions that twice as many logins would explain: where a rollout is held for them.

use crate::fixture::RolloutFixture;
use canary_release::evidence::{
    EvidenceVerdict, GROUPS, GroupCounts, IntervalCounts, ProxyCoverage, TrainReport, VersionCounts,
};

/// An interval in which so many of a hundred responses of the canary, and of 900 of stable, lose the session in each user group.
fn interval(canary: u64, stable: u64) -> IntervalCounts {
    let counts = |canary, stable| VersionCounts {
        canary: GroupCounts::new([100; GROUPS], [canary; GROUPS]),
        stable: GroupCounts::new([900; GROUPS], [stable; GROUPS]),
    };
    let (server_errors, lost_sessions) = (counts(0, 0), counts(canary, stable));
    IntervalCounts { server_errors, lost_sessions, ..IntervalCounts::default() }
}

#[test]
fn a_rollout_goes_on_to_steps_of_25_percent_and_is_held_before_larger_ones_and_the_promotion() {
    let plan = "  rollout:
    plans: {default: [{weight: 1, hold: 1m}, {weight: 25, hold: 1m}, {weight: 25.01, hold: 1m}]}
";
    let mut fixture = RolloutFixture::new(plan);
    fixture.run_until_weight("1%", EvidenceVerdict::Advance);
    let evidence = &mut fixture.record.rollout.as_mut().unwrap().evidence;
    evidence.add(&interval(0, 0));
    (0..80).for_each(|_| evidence.add(&interval(4, 18)));
    for (weight, verdict) in
        [("1%", EvidenceVerdict::Advance), ("25%", EvidenceVerdict::Hold), ("25.01%", EvidenceVerdict::Hold)]
    {
        fixture.run_until_weight(weight, EvidenceVerdict::Advance);
        let rollout = fixture.record.rollout.as_mut().unwrap();
        rollout.evidence.add(&interval(4, 18));
        let found = rollout.assess(ProxyCoverage { observed: 1, of: 1 }, TrainReport::default());
        assert_eq!(found.verdict, verdict, "{weight}: {}", found.reason);
        assert!(found.reason.starts_with("lost sessions: canary "), "{weight}: {}", found.reason);
        fixture.record.note_held(&found, fixture.now);
        let is_held = fixture.record.rollout.as_ref().unwrap().held_since.is_some();
        assert_eq!(is_held, verdict == EvidenceVerdict::Hold, "{weight}: `maxHeld` counts holds alone");
    }
}
