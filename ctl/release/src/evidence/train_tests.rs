use super::*;
use crate::assessment::Assessment;
use crate::evidence::{Criteria, EvidenceVerdict, GROUPS, GroupCounts, IntervalCounts, VersionCounts};
use std::collections::BTreeMap;

/// Two kinds of failure of each of two releases.
const CRITERIA: Criteria =
    Criteria { false_alarm: 0.05, max_errors: None, min_responses: 300, max_pod_restarts: 3, kinds: 4 };
const ALL: ProxyCoverage = ProxyCoverage { observed: 5, of: 5 };

/// Ten intervals with together so many responses of each user group, of which so many fail in each of the first groups, one in an interval.
fn evidence([canary, stable]: [u64; 2], [canary_failures, stable_failures]: [usize; 2]) -> Evidence {
    let mut evidence = Evidence::default();
    for interval in 0..10 {
        let counts = |each: u64, failures: usize| {
            let mut failed = [0; GROUPS];
            (interval..failures).step_by(10).for_each(|index| failed[index % GROUPS] += 1);
            GroupCounts::new([(each + interval as u64) / 10; GROUPS], failed)
        };
        let server_errors = VersionCounts {
            canary: counts(canary, canary_failures),
            stable: counts(stable, stable_failures),
        };
        evidence.add(&IntervalCounts { server_errors, ..IntervalCounts::default() });
    }
    evidence
}

fn name() -> ReleaseName {
    "shop/api".parse().unwrap()
}

/// A front end that never fails in front of an API, and the proxies that call the API.
fn assess(api: Evidence, proxies: ProxyCoverage) -> Assessment {
    let inner = InnerEvidence { canary: "2026.11".to_owned(), stable: "2026.10".to_owned(), evidence: api };
    let report = InnerReport { release: name(), proxies: Some(proxies), unread: None };
    let train = TrainReport { releases: vec![report], unread: None };
    let inner = BTreeMap::from([(name(), inner)]);
    evidence([19, 171], [0, 0]).assess_in_train(&CRITERIA, ALL, &inner, train)
}

#[test]
fn a_failing_canary_behind_a_front_end_that_hides_it_is_rolled_back_by_its_name() {
    let found = assess(evidence([10, 90], [5, 0]), ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Rollback, "{found:?}");
    let told = "shop/api: 5xx: canary 3.12% of 160 responses, stable 0.00% of 1440: 312 times likelier if the canary is worse \
                (rollback at 80)";
    assert_eq!(found.reason, told);
    let of_the_front_end = &found.kinds[0];
    assert!(of_the_front_end.to_string().starts_with("5xx: canary 0.00%"), "{of_the_front_end}");
}

/// At half of the users a further failure makes the evidence twice as large at most, and the line of two releases is twice that of one.
#[test]
fn the_kinds_of_all_releases_share_the_false_alarms() {
    let is_rollback = |assessment: &Assessment| assessment.verdict == EvidenceVerdict::Rollback;
    let api = |failures| evidence([500, 500], [failures, 0]);
    let alone = (1..GROUPS)
        .find(|failures| is_rollback(&api(*failures).assess(&Criteria { kinds: 2, ..CRITERIA }, ALL)));
    let in_train = (1..GROUPS).find(|failures| is_rollback(&assess(api(*failures), ALL)));
    assert_eq!(in_train, alone.map(|failures| failures + 1), "{alone:?} failures alone");
}

#[test]
fn a_release_that_is_not_called_lets_the_rollout_go_on() {
    let found = assess(Evidence::default(), ALL);
    assert_eq!(found.verdict, EvidenceVerdict::Advance, "{}", found.reason);
    assert!(!found.reason.contains("shop/api"), "no rate of nothing: {}", found.reason);
    let called = assess(evidence([1, 9], [0, 0]), ALL);
    assert!(
        called.reason.ends_with("shop/api: unanswered canary 0.00%, stable 0.00%")
            || called.reason.contains("shop/api: 5xx canary 0.00%"),
        "{}",
        called.reason
    );
    assert_eq!(called.verdict, EvidenceVerdict::Advance, "few responses of it are no reason to wait");
}

#[test]
fn silent_callers_hold_and_no_caller_does_not() {
    let with = |observed, of| assess(evidence([10, 90], [0, 0]), ProxyCoverage { observed, of });
    assert_eq!(with(4, 5).verdict, EvidenceVerdict::Advance);
    let silent = with(3, 4);
    assert_eq!(silent.verdict, EvidenceVerdict::Hold);
    assert_eq!(
        silent.reason,
        "shop/api: expected counters of at least 80% of 4 proxies, 1 were not observed"
    );
    assert_eq!(with(0, 0).verdict, EvidenceVerdict::Advance);
    let bad = assess(evidence([10, 90], [5, 0]), ProxyCoverage { observed: 1, of: 4 });
    assert_eq!(bad.verdict, EvidenceVerdict::Rollback, "what the others have counted is enough");
}
