use super::*;
use crate::evidence::GroupCounts;

/// The threshold of one kind of failure at 5 % of false alarms.
const ROLLBACK: f64 = 20.0;

/// One version's counts, `each` responses in every group, failures in the groups named (one each time).
fn counts(each: u64, failed_in: &[usize]) -> GroupCounts {
    let mut failed = [0; GROUPS];
    for group in failed_in {
        failed[*group] += 1;
    }
    GroupCounts::new([each; GROUPS], failed)
}

fn test_of(intervals: &[VersionCounts]) -> SequentialTest {
    let mut test = SequentialTest::default();
    for interval in intervals {
        test.add(interval);
    }
    test
}

/// An interval with `share` canary responses for each hundred.
fn at_share(canary_each: u64, stable_each: u64, failed_in: &[usize]) -> VersionCounts {
    VersionCounts { canary: counts(canary_each, failed_in), stable: counts(stable_each, &[]) }
}

#[test]
fn four_failures_convict_a_canary_at_10_percent_and_seven_at_50_where_stable_has_none() {
    let needed = |canary, stable| {
        let convicts = |failures: &usize| {
            let groups: Vec<usize> = (0..*failures).collect();
            test_of(&[at_share(canary, stable, &groups)]).log_evidence().reaches(ROLLBACK)
        };
        (1..GROUPS).find(convicts)
    };
    assert_eq!((needed(10, 90), needed(50, 50)), (Some(4), Some(7)));
}

#[test]
fn one_group_alone_is_no_evidence_however_often_it_fails() {
    let mut test = SequentialTest::default();
    for _ in 0..1_000 {
        test.add(&at_share(10, 90, &[5; 10]));
    }
    assert!(test.log_evidence().nats() <= 0.0, "{:?}", test.log_evidence());
}

#[test]
fn failures_of_few_users_are_less_evidence_than_as_many_of_many() {
    // 24 are left in both without the group that has most.
    let many: Vec<usize> = (0..26).map(|failure| failure % GROUPS).collect();
    let few: Vec<usize> = (0..32).map(|failure| failure % 4).collect();
    let evidence = |groups: &[usize]| test_of(&[at_share(100, 900, groups)]).log_evidence().nats();
    assert!(evidence(&few) < evidence(&many) / 4.0, "{} of {}", evidence(&few), evidence(&many));
}

#[test]
fn a_group_that_fails_far_more_does_not_hide_what_all_others_show() {
    let others = (1..GROUPS).flat_map(|group| [group; 2]);
    let groups: Vec<usize> = others.chain([0; 60]).collect();
    let evidence = test_of(&[at_share(100, 900, &groups)]).log_evidence();
    assert!(evidence.reaches(ROLLBACK), "two failures in each of 15 groups are enough: {evidence:?}");
}

#[test]
fn failures_of_stable_speak_for_the_canary() {
    let failing = VersionCounts { canary: counts(50, &[]), stable: counts(50, &[0, 1, 2, 3, 4]) };
    assert!(test_of(&[failing]).log_evidence().nats() < -0.5);
}

#[test]
fn a_further_failure_of_the_canary_never_lowers_the_evidence() {
    // Below 8 failures, where their spread over the groups does not count yet.
    let mut random = fastrand::Rng::with_seed(18);
    for _ in 0..500 {
        let shares = (random.u64(1..50), random.u64(1..200));
        let groups: Vec<usize> = (0..random.usize(0..7)).map(|_| random.usize(0..GROUPS)).collect();
        let before = test_of(&[at_share(shares.0.max(7), shares.1, &groups)]).log_evidence();
        let more: Vec<usize> = groups.iter().copied().chain([random.usize(0..GROUPS)]).collect();
        let after = test_of(&[at_share(shares.0.max(7), shares.1, &more)]).log_evidence();
        assert!(after >= before, "{shares:?} {groups:?} {more:?}: {before:?} {after:?}");
    }
}

#[test]
fn an_interval_that_is_observed_in_two_halves_is_the_same_evidence() {
    let half = |failed: &[usize]| VersionCounts { canary: counts(5, failed), stable: counts(45, &[9]) };
    let whole = VersionCounts { canary: counts(10, &[1, 2, 3]), stable: counts(90, &[9, 9]) };
    let (one, two) = (test_of(&[whole]), test_of(&[half(&[1]), half(&[2, 3])]));
    assert_eq!(one.counts(), two.counts());
    let difference = one.log_evidence().nats() - two.log_evidence().nats();
    assert!(difference.abs() < 1e-4, "{difference}");
}

#[test]
fn a_changed_weight_changes_no_evidence_that_there_is() {
    let bad = at_share(10, 90, &[1, 2, 3, 4, 5]);
    // Half of the users are on the canary then, and nobody fails.
    let good = at_share(50, 50, &[]);
    let before = test_of(std::slice::from_ref(&bad)).log_evidence();
    assert_eq!(test_of(&[bad, good]).log_evidence(), before);
}

#[test]
fn the_difference_of_rates_is_that_of_the_same_time() {
    // During an incident of both versions the canary has few users, after it many: its overall rate is the lower one.
    let failures = |each: u64, of: u64| GroupCounts::new([each; GROUPS], [of; GROUPS]);
    let incident = VersionCounts { canary: failures(10, 5), stable: failures(990, 495) };
    let after = VersionCounts { canary: failures(500, 10), stable: failures(500, 5) };
    let test = test_of(&[incident, after]);
    let (canary, stable) = (test.counts().canary.total().rate(), test.counts().stable.total().rate());
    assert!(canary < stable, "{canary} {stable}");
    assert!(test.rate_difference() > 0.009, "{}", test.rate_difference());
}

#[test]
fn no_counts_make_evidence_that_is_no_number() {
    let mut random = fastrand::Rng::with_seed(3);
    let extremes = [0, 1, 2, 1 << 20, 1 << 40, u64::MAX / 2, u64::MAX];
    let mut draw = || {
        let mut any = || std::array::from_fn(|_| extremes[random.usize(0..extremes.len())]);
        GroupCounts::new(any(), any())
    };
    let mut test = SequentialTest::default();
    for _ in 0..2_000 {
        test.add(&VersionCounts { canary: draw(), stable: draw() });
        let evidence = test.log_evidence();
        assert!(evidence.nats().is_finite() && evidence.ratio().is_finite(), "{test:?}");
        assert!(test.rate_difference().is_finite() && test.spread() >= 1.0, "{test:?}");
    }
}

#[test]
fn the_record_keeps_a_test_exactly_and_its_size_does_not_grow() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut test = SequentialTest::default();
    for _ in 0..500 {
        let groups: Vec<usize> = (0..random.usize(0..4)).map(|_| random.usize(0..GROUPS)).collect();
        test.add(&at_share(7, 93, &groups));
    }
    let json = serde_json::to_string(&test).unwrap();
    assert_eq!(serde_json::from_str::<SequentialTest>(&json).unwrap(), test);
    assert!(json.len() < 2_500, "{} bytes", json.len());
}

/// A binomial draw; of small numbers.
fn binomial(random: &mut fastrand::Rng, of: u64, probability: f64) -> u64 {
    (0..of).filter(|_| random.f64() < probability).count() as u64
}

/// By the theory the mean of the evidence of two equal versions is at most 1 at any time, and it exceeds 20 in at most a
/// twentieth of the rollouts. Leaving the worst group out makes both smaller.
#[test]
fn two_equal_versions_have_a_mean_evidence_of_at_most_1_and_few_false_alarms() {
    let mut random = fastrand::Rng::with_seed(2026);
    let (runs, mut sum, mut alarms) = (400, 0.0, 0);
    for _ in 0..runs {
        let mut test = SequentialTest::default();
        let mut is_alarm = false;
        for interval in 0..60 {
            let (canary, stable) = if interval < 30 { (1, 9) } else { (5, 5) };
            let mut draw = |each| {
                GroupCounts::new([each; GROUPS], std::array::from_fn(|_| binomial(&mut random, each, 0.02)))
            };
            test.add(&VersionCounts { canary: draw(canary), stable: draw(stable) });
            is_alarm |= test.log_evidence().reaches(ROLLBACK);
        }
        sum += test.log_evidence().ratio();
        alarms += u32::from(is_alarm);
    }
    let mean = sum / f64::from(runs);
    assert!(mean <= 1.0, "a mean of {mean}");
    assert!(alarms <= runs / 20, "{alarms} of {runs}");
}
