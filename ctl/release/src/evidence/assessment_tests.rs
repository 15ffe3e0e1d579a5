use super::*;
use crate::evidence::{GROUPS, GroupCounts, IntervalCounts};

const CRITERIA: Criteria = Criteria { false_alarm: 0.05, max_errors: None, min_responses: 300 };
const ALL: ProxyCoverage = ProxyCoverage { observed: 5, of: 5 };

/// Counts that are spread evenly, with failures one in each of the first groups, around and around.
fn version(each: u64, failures: usize) -> GroupCounts {
    let mut failed = [0; GROUPS];
    for index in 0..failures {
        failed[index % GROUPS] += 1;
    }
    GroupCounts::new([each; GROUPS], failed)
}

fn evidence(canary: GroupCounts, stable: GroupCounts) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.add(&IntervalCounts {
        server_errors: VersionCounts { canary, stable },
        ..IntervalCounts::default()
    });
    evidence
}

fn verdict(evidence: &Evidence) -> EvidenceVerdict {
    evidence.assess(&CRITERIA, ALL).verdict
}

#[test]
fn a_canary_as_good_as_stable_goes_on_after_300_responses() {
    let found = evidence(version(19, 3), version(171, 27)).assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Advance, "{}", found.reason);
    assert!(found.reason.contains("5xx canary 0.99%, stable 0.99%"), "{}", found.reason);
    let few = evidence(version(18, 3), version(171, 27)).assess(&CRITERIA, ALL);
    assert_eq!(few.verdict, EvidenceVerdict::Waiting);
    assert_eq!(few.reason, "expected 300 responses of the canary in this step, found 288");
}

#[test]
fn a_worse_canary_is_rolled_back_with_the_numbers_of_both() {
    let found = evidence(version(10, 5), version(90, 0)).assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback, "{found:?}");
    let told = "5xx: canary 3.12% of 160 responses, stable 0.00% of 1440: 748 times likelier if the canary is worse \
                (rollback at 40)";
    assert_eq!(found.reason, told);
}

#[test]
fn at_a_fifth_of_the_line_it_holds() {
    // Three failures in three groups: the evidence without one of them is 18.5, the line 40.
    let found = evidence(version(100, 3), version(900, 0));
    assert_eq!(verdict(&found), EvidenceVerdict::Hold, "{:?}", found.assess(&CRITERIA, ALL));
    assert_eq!(verdict(&evidence(version(100, 2), version(900, 0))), EvidenceVerdict::Advance);
}

#[test]
fn a_difference_below_a_tenth_of_a_point_is_no_reason() {
    // 16 of 160,000 against none of 1,440,000: certain, and 0.01 points.
    let found = evidence(version(10_000, 16), version(90_000, 0)).assess(&CRITERIA, ALL);
    let [errors, _] = &found.kinds[..] else { panic!("{found:?}") };
    assert!(errors.evidence > 1e6 && errors.difference < MIN_DIFFERENCE, "{errors:?}");
    assert_eq!(found.verdict, EvidenceVerdict::Advance);
}

#[test]
fn silent_proxies_hold_and_do_not_hide_a_failure() {
    let good = evidence(version(19, 0), version(171, 0));
    let with = |observed, of| good.assess(&CRITERIA, ProxyCoverage { observed, of });
    assert_eq!(with(4, 5).verdict, EvidenceVerdict::Advance);
    assert_eq!(with(3, 4).verdict, EvidenceVerdict::Hold);
    assert_eq!(with(3, 4).reason, "expected counters of at least 80% of 4 proxies, 1 were not observed");
    assert_eq!(with(0, 0).verdict, EvidenceVerdict::Hold);
    let bad = evidence(version(10, 6), version(90, 0));
    assert_eq!(
        bad.assess(&CRITERIA, ProxyCoverage { observed: 3, of: 5 }).verdict,
        EvidenceVerdict::Rollback
    );
}

#[test]
fn few_groups_wait_and_each_step_must_see_its_own_responses() {
    let mut responses = [0; GROUPS];
    responses[..7].fill(100);
    let few = evidence(GroupCounts::new(responses, [0; GROUPS]), version(900, 0));
    let found = few.assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Waiting);
    assert_eq!(found.reason, "expected users of 8 of 16 groups on the canary in this step, found 7");
    let mut enough = evidence(version(30, 0), version(170, 0));
    assert_eq!(verdict(&enough), EvidenceVerdict::Advance);
    enough.begin_step();
    assert_eq!(verdict(&enough), EvidenceVerdict::Waiting);
}

#[test]
fn a_new_step_keeps_the_evidence_of_those_before() {
    let mut bad = evidence(version(10, 6), version(90, 0));
    bad.begin_step();
    assert_eq!(verdict(&bad), EvidenceVerdict::Rollback);
}

#[test]
fn the_ceiling_holds_whatever_stable_does_and_not_for_one_group() {
    let ceiling = Criteria { max_errors: Some(0.01), ..CRITERIA };
    // Both fail alike, as with a shared database that is down.
    let both = evidence(version(100, 160), version(900, 1_440));
    assert_eq!(both.assess(&CRITERIA, ALL).verdict, EvidenceVerdict::Advance);
    let found = both.assess(&ceiling, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback);
    let told = "5xx: expected at most 1.00% of the canary's responses in this step, found 10.00% of 1600";
    assert_eq!(found.reason, told);
    let mut failed = [0; GROUPS];
    failed[7] = 90;
    let one = evidence(GroupCounts::new([100; GROUPS], failed), version(900, 0));
    assert_eq!(one.assess(&ceiling, ALL).verdict, EvidenceVerdict::Advance);
}

#[test]
fn without_stable_there_is_nothing_to_compare_with_but_the_ceiling() {
    let alone = evidence(version(100, 0), GroupCounts::default());
    let found = alone.assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Waiting);
    assert_eq!(found.reason, "expected responses of stable to compare with in this step, found none");
    let ceiling = Criteria { max_errors: Some(0.01), ..CRITERIA };
    assert_eq!(alone.assess(&ceiling, ALL).verdict, EvidenceVerdict::Advance);
}

#[test]
fn a_canary_that_hangs_is_rolled_back() {
    let mut evidence = Evidence::default();
    evidence.add(&IntervalCounts {
        server_errors: VersionCounts { canary: GroupCounts::default(), stable: version(90, 0) },
        unanswered: VersionCounts { canary: version(10, 160), stable: version(90, 1) },
        proxies: 1,
    });
    let found = evidence.assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback);
    assert!(found.reason.starts_with("unanswered: canary 100.00% of 160"), "{}", found.reason);
}
