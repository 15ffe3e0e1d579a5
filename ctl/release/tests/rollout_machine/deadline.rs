//! The deadline of a rollout: that a canary was not seen for long enough is no failure of the canary.

use crate::NO_GATE;
use crate::fixture::RolloutFixture;
use canary_release::evidence::{
    Criteria, Evidence, EvidenceVerdict, GROUPS, GroupCounts, IntervalCounts, ProxyCoverage, VersionCounts,
};
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase};

pub(crate) const HOLD_CRITERIA: Criteria =
    Criteria { false_alarm: 0.05, max_errors: None, min_responses: 300, max_pod_restarts: 3, kinds: 2 };

/// Of the canary, in three groups: enough for a hold.
pub(crate) fn three_failures() -> Evidence {
    let mut evidence = Evidence::default();
    for group in 0..3 {
        let failed = std::array::from_fn(|of| u64::from(of == group));
        let canary = GroupCounts::new([10; GROUPS], failed);
        let stable = GroupCounts::new([90; GROUPS], [0; GROUPS]);
        let server_errors = VersionCounts { canary, stable };
        evidence.add(&IntervalCounts { server_errors, ..IntervalCounts::default() });
    }
    evidence
}

#[test]
fn too_little_evidence_waits_until_the_deadline_which_is_no_failure_of_the_canary() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    deadline: 1h\n"));
    for _ in 0..60 {
        fixture.tick(EvidenceVerdict::Waiting);
        fixture.pass(60);
    }
    let waiting = fixture.decide(EvidenceVerdict::Waiting);
    assert_eq!(waiting.phase, RolloutPhase::Waiting);
    fixture.pass(1);
    for verdict in [EvidenceVerdict::Advance, EvidenceVerdict::Waiting, EvidenceVerdict::Hold] {
        let late = fixture.decide(verdict);
        assert_eq!(
            late.action,
            RolloutAction::Decide(Ending::Stop),
            "a hold of silent proxies shows nothing"
        );
        let told = format!("the deadline of 1h has passed; nothing speaks against the canary: {verdict:?}");
        assert_eq!(late.reason, told);
    }
    let worse = fixture.decide(EvidenceVerdict::Rollback);
    assert_eq!(worse.action, RolloutAction::Decide(Ending::Rollback));
    let mut held = fixture.observe(EvidenceVerdict::Hold);
    held.assessment = three_failures().assess(&HOLD_CRITERIA, ProxyCoverage { observed: 1, of: 1 });
    let held = fixture.record.rollout.as_ref().unwrap().next(&held, fixture.now);
    assert_eq!(held.action, RolloutAction::Decide(Ending::Rollback), "a hold lasts no longer");
    assert!(held.reason.starts_with("the deadline of 1h has passed; 5xx: canary "), "{}", held.reason);
}
