use super::*;
use crate::evidence::{GROUPS, GroupCounts, IntervalCounts, RestartCount};
use crate::spec::OptionalKinds;

const CRITERIA: Criteria =
    Criteria { false_alarm: 0.05, max_errors: None, min_responses: 300, max_pod_restarts: 3, kinds: 2 };
const ALL: ProxyCoverage = ProxyCoverage { observed: 5, of: 5 };

/// Counts that are spread evenly, with failures one in each of the first groups, around and around.
fn version(each: u64, failures: usize) -> GroupCounts {
    let mut failed = [0; GROUPS];
    for index in 0..failures {
        failed[index % GROUPS] += 1;
    }
    GroupCounts::new([each; GROUPS], failed)
}

/// Ten intervals with together these counts.
fn evidence(canary: GroupCounts, stable: GroupCounts) -> Evidence {
    let mut evidence = Evidence::default();
    for server_errors in in_ten(&VersionCounts { canary, stable }) {
        evidence.add(&IntervalCounts { server_errors, ..IntervalCounts::default() });
    }
    evidence
}

/// The counts in ten intervals; of failures one group comes after the other.
fn in_ten(counts: &VersionCounts) -> impl Iterator<Item = VersionCounts> {
    let part = |of: &GroupCounts, interval: usize| {
        let (mut responses, mut failed) = ([0; GROUPS], [0; GROUPS]);
        for (group, count) in of.groups().enumerate() {
            let share = |all: u64, offset: usize| (all + ((interval + offset) % 10) as u64) / 10;
            responses[group] = share(count.responses, 0);
            failed[group] = share(count.failed, group);
        }
        GroupCounts::new(responses, failed)
    };
    let counts = *counts;
    (0..10).map(move |interval| VersionCounts {
        canary: part(&counts.canary, interval),
        stable: part(&counts.stable, interval),
    })
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
    let told = "5xx: canary 3.12% of 160 responses, stable 0.00% of 1440: 312 times likelier if the canary is worse \
                (rollback at 40)";
    assert_eq!(found.reason, told);
}

#[test]
fn at_a_fifth_of_the_line_it_holds() {
    // Three failures in three groups: the evidence is 22, the line 40.
    let found = evidence(version(100, 3), version(900, 0));
    assert_eq!(verdict(&found), EvidenceVerdict::Hold, "{:?}", found.assess(&CRITERIA, ALL));
    assert_eq!(verdict(&evidence(version(100, 1), version(900, 0))), EvidenceVerdict::Advance);
    // The lines 100 and 120.
    let of_kinds = |kinds| found.assess(&Criteria { kinds, ..CRITERIA }, ALL).verdict;
    assert_eq!((of_kinds(5), of_kinds(6)), (EvidenceVerdict::Hold, EvidenceVerdict::Advance));
}

#[test]
fn a_difference_below_a_tenth_of_a_point_is_no_reason() {
    // 16 of 160,000 against none of 1,440,000: certain, and 0.01 points.
    let found = evidence(version(10_000, 16), version(90_000, 0)).assess(&CRITERIA, ALL);
    let [errors, _] = &found.kinds[..] else { panic!("{found:?}") };
    assert!(errors.evidence > 1e6 && errors.difference < 0.001, "{errors:?}");
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
    responses[7] = 100;
    assert_eq!(
        verdict(&evidence(GroupCounts::new(responses, [0; GROUPS]), version(900, 0))),
        EvidenceVerdict::Advance
    );
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
fn the_ceiling_is_about_this_step_of_either_kind_from_enough_responses_on_and_may_be_reached() {
    let ceiling = Criteria { max_errors: Some(0.01), ..CRITERIA };
    let verdict = |evidence: &Evidence| evidence.assess(&ceiling, ALL).verdict;
    let few = evidence(version(10, 16), version(90, 144));
    assert_eq!(verdict(&few), EvidenceVerdict::Waiting, "160 responses of 300");
    // 15 of 1500 without the worst group.
    let reached = evidence(version(100, 16), version(900, 144));
    assert_eq!(verdict(&reached), EvidenceVerdict::Advance);

    let failing = VersionCounts { canary: version(100, 160), stable: version(900, 1_440) };
    let good = VersionCounts { canary: version(100, 0), stable: version(900, 0) };
    for [server_errors, unanswered] in [[failing, good], [good, failing]] {
        let mut evidence = Evidence::default();
        evidence.add(&IntervalCounts { server_errors, unanswered, ..IntervalCounts::default() });
        assert_eq!(verdict(&evidence), EvidenceVerdict::Rollback, "{unanswered:?}");
        evidence.begin_step();
        evidence.add(&IntervalCounts { server_errors: good, unanswered: good, ..IntervalCounts::default() });
        assert_eq!(verdict(&evidence), EvidenceVerdict::Advance, "the step before was bad: {unanswered:?}");
    }
}

#[test]
fn of_several_reasons_with_one_verdict_the_first_is_said() {
    let worse = VersionCounts { canary: version(100, 160), stable: version(900, 144) };
    let mut evidence = Evidence::default();
    for worse in in_ten(&worse) {
        evidence.add(&IntervalCounts {
            server_errors: worse,
            unanswered: worse,
            ..IntervalCounts::default()
        });
    }
    let reason = evidence.assess(&CRITERIA, ALL).reason;
    assert!(reason.starts_with("5xx: "), "{reason}");
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
    for unanswered in in_ten(&VersionCounts { canary: version(10, 160), stable: version(90, 1) }) {
        evidence.add(&IntervalCounts {
            server_errors: VersionCounts { canary: GroupCounts::default(), stable: version(90, 0) },
            unanswered,
            ..IntervalCounts::default()
        });
    }
    let found = evidence.assess(&CRITERIA, ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback);
    assert!(found.reason.starts_with("unanswered: canary 100.00% of 160"), "{}", found.reason);
}

/// The same counts as failures of a kind that a release asks for, and of one that it does not.
fn asked(client_errors: bool, slow_responses: bool, counts: &VersionCounts) -> Assessment {
    let mut evidence =
        Evidence::new(OptionalKinds { client_errors, slow_responses, ..OptionalKinds::default() });
    let responses = VersionCounts { canary: version(100, 0), stable: version(900, 0) };
    for counts in in_ten(counts) {
        evidence.add(&IntervalCounts {
            server_errors: responses,
            client_errors: counts,
            slow_responses: counts,
            ..IntervalCounts::default()
        });
    }
    evidence.assess(&Criteria { kinds: 3, ..CRITERIA }, ALL)
}

#[test]
fn responses_with_4xx_and_slow_ones_are_failures_where_the_release_says_so() {
    let worse = VersionCounts { canary: version(100, 160), stable: version(900, 144) };
    let found = asked(false, false, &worse);
    assert_eq!((found.verdict, found.kinds.len()), (EvidenceVerdict::Advance, 2), "{}", found.reason);
    let found = asked(true, false, &worse);
    assert_eq!((found.verdict, found.kinds.len()), (EvidenceVerdict::Rollback, 3));
    assert!(
        found.reason.starts_with("4xx: canary 10.00% of 1600 responses, stable 1.00%"),
        "{}",
        found.reason
    );
    assert!(found.reason.ends_with("(rollback at 60)"), "three kinds share the alarms: {}", found.reason);
    let found = asked(false, true, &worse);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback);
    assert!(found.reason.starts_with("slow: canary 10.00%"), "{}", found.reason);
}

#[test]
fn slow_responses_convict_from_a_point_more_on_and_do_not_count_for_the_ceiling() {
    // 1.5 % against 1 %: certain, and half a point.
    let little = VersionCounts { canary: version(10_000, 2_400), stable: version(90_000, 14_400) };
    assert_eq!(asked(false, true, &little).verdict, EvidenceVerdict::Advance);
    assert_eq!(asked(true, false, &little).verdict, EvidenceVerdict::Rollback);
    let kinds = OptionalKinds { client_errors: true, slow_responses: true, ..OptionalKinds::default() };
    let mut evidence = Evidence::new(kinds);
    let alike = VersionCounts { canary: version(100, 160), stable: version(900, 1_440) };
    let responses = VersionCounts { canary: version(100, 0), stable: version(900, 0) };
    evidence.add(&IntervalCounts {
        server_errors: responses,
        client_errors: alike,
        slow_responses: alike,
        ..IntervalCounts::default()
    });
    let ceiling = Criteria { max_errors: Some(0.01), kinds: 4, ..CRITERIA };
    assert_eq!(evidence.assess(&ceiling, ALL).verdict, EvidenceVerdict::Advance);
}

#[test]
fn twice_as_many_lost_sessions_as_of_stable_may_be_logins_so_that_a_person_decides() {
    let kinds = OptionalKinds { lost_sessions: true, ..OptionalKinds::default() };
    let assessed = |lost: usize| {
        let mut evidence = Evidence::new(kinds);
        let responses = VersionCounts { canary: version(1_000, 0), stable: version(9_000, 0) };
        evidence.add(&IntervalCounts { lost_sessions: responses, ..IntervalCounts::default() });
        let counts = VersionCounts { canary: version(1_000, lost), stable: version(9_000, 2_880) };
        for lost_sessions in (0..8).flat_map(|_| in_ten(&counts)) {
            let server_errors = VersionCounts { canary: version(100, 0), stable: version(900, 0) };
            evidence.add(&IntervalCounts { server_errors, lost_sessions, ..IntervalCounts::default() });
        }
        evidence.assess(&Criteria { kinds: 3, ..CRITERIA }, ALL)
    };
    // 2 % of stable.
    assert_eq!(assessed(320).verdict, EvidenceVerdict::Advance);
    let twice = assessed(640);
    assert_eq!(twice.verdict, EvidenceVerdict::Hold, "{}", twice.reason);
    assert!(twice.reason.contains("if it loses more than twice as many"), "{}", twice.reason);
    assert!(twice.speaks_against());
    let more = assessed(1_280);
    assert_eq!(more.verdict, EvidenceVerdict::Rollback, "{}", more.reason);
    assert!(more.reason.ends_with("(rollback at 60)"), "{}", more.reason);
}

#[test]
fn a_canary_whose_containers_restart_is_rolled_back_though_no_response_fails() {
    let mut evidence = evidence(version(30, 0), version(270, 0));
    let mut restart = |canary, stable| {
        let count = |restarts| RestartCount { restarts, pods: 2 };
        let restarts = RestartCounts { canary: count(canary), stable: count(stable) };
        evidence.add(&IntervalCounts { restarts, ..IntervalCounts::default() });
        evidence.assess(&CRITERIA, ALL)
    };
    assert_eq!(restart(3, 0).verdict, EvidenceVerdict::Advance);
    let found = restart(1, 0);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback);
    let told =
        "restarts: expected at most 3 of the canary's containers, found 4 in 2 pods; stable 0 in 2 pods";
    assert_eq!(found.reason, told);
    assert_eq!(restart(0, 2).verdict, EvidenceVerdict::Advance, "stable's restart as well");
}

#[test]
fn a_rollout_that_forgets_judges_the_same_kinds() {
    let kinds = OptionalKinds { client_errors: true, slow_responses: true, lost_sessions: true };
    let mut evidence = Evidence::new(kinds);
    evidence.forget();
    assert_eq!((evidence.kinds().count(), evidence.intervals), (5, 1));
}
