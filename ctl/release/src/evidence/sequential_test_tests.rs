use super::*;
use crate::evidence::{GROUPS, GroupCounts};

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

/// Adds ten seconds at the weight of all intervals before.
fn add(test: &mut SequentialTest, interval: &VersionCounts) {
    let mut step = *test.counts();
    step.add(interval);
    test.add(interval, &step, 10);
}

fn test_of(intervals: &[VersionCounts]) -> SequentialTest {
    let mut test = SequentialTest::default();
    for interval in intervals {
        add(&mut test, interval);
    }
    test
}

/// An interval with `share` canary responses for each hundred.
fn at_share(canary_each: u64, stable_each: u64, failed_in: &[usize]) -> VersionCounts {
    VersionCounts { canary: counts(canary_each, failed_in), stable: counts(stable_each, &[]) }
}

/// Intervals with one failure of the canary each, in these groups.
fn one_by_one(canary_each: u64, stable_each: u64, groups: &[usize]) -> Vec<VersionCounts> {
    groups.iter().map(|group| at_share(canary_each, stable_each, &[*group])).collect()
}

#[test]
fn three_failures_convict_a_canary_at_10_percent_and_eight_at_50_where_stable_has_none() {
    let needed = |canary, stable| {
        let convicts = |failures: &usize| {
            let groups: Vec<usize> = (0..*failures).map(|group| group % GROUPS).collect();
            test_of(&one_by_one(canary, stable, &groups)).log_evidence().reaches(ROLLBACK)
        };
        (1..50).find(convicts)
    };
    assert_eq!([needed(1, 99), needed(10, 90), needed(50, 50)], [Some(3), Some(3), Some(8)]);
}

#[test]
fn one_group_alone_is_hardly_evidence_however_often_it_fails() {
    let mut test = SequentialTest::default();
    for _ in 0..1_000 {
        add(&mut test, &at_share(10, 90, &[5; 10]));
    }
    let nats = test.log_evidence().nats();
    assert!((0.5..1.5).contains(&nats), "{nats}");
}

#[test]
fn one_interval_says_no_more_than_one_failure_at_a_small_weight() {
    let pause: Vec<usize> = (0..GROUPS).flat_map(|group| [group; 5]).collect();
    let at_half = test_of(&[at_share(50, 50, &pause)]).log_evidence().nats();
    assert!((0.0..0.75).contains(&at_half), "{at_half}");
    let at_small_weight = |failed: &[usize]| test_of(&[at_share(1, 99, failed)]).log_evidence().nats();
    let (one, all) = (at_small_weight(&[3]), at_small_weight(&pause));
    assert!(one > 0.5 && all < 2.0 * one, "{one} {all}");
}

#[test]
fn failures_of_few_users_are_less_evidence_than_as_many_of_many() {
    let many: Vec<usize> = (0..32).map(|failure| failure % GROUPS).collect();
    let few: Vec<usize> = (0..32).map(|failure| failure % 4).collect();
    let evidence = |groups: &[usize]| test_of(&one_by_one(100, 900, groups)).log_evidence().nats();
    assert!(evidence(&few) < evidence(&many) / 2.0, "{} of {}", evidence(&few), evidence(&many));
}

#[test]
fn a_group_that_fails_far_more_does_not_hide_what_all_others_show() {
    let others = (1..GROUPS).flat_map(|group| [group; 2]);
    let groups: Vec<usize> = others.chain([0; 60]).collect();
    let evidence = test_of(&one_by_one(100, 900, &groups)).log_evidence();
    assert!(evidence.reaches(ROLLBACK), "two failures in each of 15 groups are enough: {evidence:?}");
}

/// The fault that the canary's other users see is found beside users of stable who fail always: each costs a tenth of the stake.
#[test]
fn four_groups_of_stable_that_always_fail_hide_nothing() {
    let with_bots = |bots: usize| {
        let mut failed = [0; GROUPS];
        failed[..bots].fill(90);
        let stable = GroupCounts::new([90; GROUPS], failed);
        let interval =
            |group: usize| VersionCounts { canary: counts(10, &[group, (group + 5) % GROUPS]), stable };
        test_of(&(0..60).map(|group| interval(group % GROUPS)).collect::<Vec<_>>()).log_evidence()
    };
    for bots in 0..=4 {
        assert!(with_bots(bots).reaches(ROLLBACK), "{bots}: {:?}", with_bots(bots));
    }
    assert!(!with_bots(16).reaches(ROLLBACK), "stable fails more");
}

/// Both fail with 1 % for a day; then the canary fails with 5 %.
#[test]
fn a_canary_that_fails_on_the_second_day_is_found_within_minutes() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut draw =
        |rate| GroupCounts::new([6; GROUPS], std::array::from_fn(|_| binomial(&mut random, 6, rate)));
    let mut test = SequentialTest::default();
    for _ in 0..24 * 360 {
        add(&mut test, &VersionCounts { canary: draw(0.01), stable: draw(0.01) });
        assert!(!test.log_evidence().reaches(ROLLBACK));
    }
    let found = (1..360).find(|_| {
        add(&mut test, &VersionCounts { canary: draw(0.05), stable: draw(0.01) });
        test.log_evidence().reaches(ROLLBACK)
    });
    assert!(found.is_some_and(|intervals| intervals < 45), "{found:?} intervals");
    assert!(test.rate_difference() > 0.02, "{}", test.rate_difference());
}

#[test]
fn failures_of_stable_speak_for_the_canary() {
    let failing = VersionCounts { canary: counts(50, &[]), stable: counts(50, &[0, 1, 2, 3, 4]) };
    assert!(test_of(&[failing]).log_evidence().nats() < -0.5);
}

#[test]
fn a_further_failure_of_the_canary_never_lowers_the_evidence() {
    let mut random = fastrand::Rng::with_seed(18);
    for _ in 0..500 {
        let shares = (random.u64(1..50), random.u64(1..200));
        let groups: Vec<usize> = (0..random.usize(0..7)).map(|_| random.usize(0..GROUPS)).collect();
        let before = test_of(&one_by_one(shares.0, shares.1, &groups)).log_evidence();
        let more: Vec<usize> = groups.iter().copied().chain([random.usize(0..GROUPS)]).collect();
        let after = test_of(&one_by_one(shares.0, shares.1, &more)).log_evidence();
        assert!(after >= before, "{shares:?} {groups:?} {more:?}: {before:?} {after:?}");
    }
}

#[test]
fn an_interval_that_is_observed_in_two_halves_is_the_same_evidence_where_no_bound_is_reached() {
    let half = |failed: &[usize]| VersionCounts { canary: counts(5, failed), stable: counts(45, &[9]) };
    let whole = VersionCounts { canary: counts(10, &[1]), stable: counts(90, &[9, 9]) };
    let (one, two) = (test_of(&[whole]), test_of(&[half(&[1]), half(&[])]));
    assert_eq!(one.counts(), two.counts());
    let difference = one.log_evidence().nats() - two.log_evidence().nats();
    assert!(difference.abs() < 1e-4, "{difference}");
}

#[test]
fn a_changed_weight_changes_no_evidence_that_there_is() {
    let mut intervals = one_by_one(10, 90, &[1, 2, 3, 4, 5]);
    let before = test_of(&intervals).log_evidence();
    // Half of the users are on the canary then, and nobody fails.
    intervals.push(at_share(50, 50, &[]));
    assert_eq!(test_of(&intervals).log_evidence(), before);
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

/// A short plan of 10, 25 and 50 %, in which the canary forgets an eighth of the sessions. Were it a small difference, it would be promoted.
#[test]
fn the_difference_is_as_large_while_few_intervals_raise_the_weight() {
    let interval = |each_canary: u64, each_stable: u64, lost: u64| VersionCounts {
        canary: GroupCounts::new([each_canary; GROUPS], [lost; GROUPS]),
        stable: GroupCounts::new([each_stable; GROUPS], [0; GROUPS]),
    };
    let mut test = SequentialTest::default();
    for (canary, stable, lost) in [(8, 72, 1), (8, 72, 1), (24, 72, 3), (16, 48, 2), (48, 48, 6), (8, 8, 1)] {
        add(&mut test, &interval(canary, stable, lost));
        assert!(test.rate_difference() > 0.1, "{}", test.rate_difference());
    }
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
        add(&mut test, &VersionCounts { canary: draw(), stable: draw() });
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
        add(&mut test, &at_share(7, 93, &groups));
    }
    let json = serde_json::to_string(&test).unwrap();
    assert_eq!(serde_json::from_str::<SequentialTest>(&json).unwrap(), test);
    assert!(json.len() < 5_000, "{} bytes", json.len());
}

/// A binomial draw; of small numbers.
fn binomial(random: &mut fastrand::Rng, of: u64, probability: f64) -> u64 {
    (0..of).filter(|_| random.f64() < probability).count() as u64
}

/// By the theory the mean of the evidence of two equal versions is at most 1 at any time, and it exceeds 20 in at most a
/// twentieth of the rollouts. The bounds make both smaller.
#[test]
fn two_equal_versions_have_a_mean_evidence_of_at_most_1_and_few_false_alarms() {
    let mut random = fastrand::Rng::with_seed(2026);
    let (runs, mut sum, mut alarms) = (400, 0.0, 0);
    for _ in 0..runs {
        let (mut test, mut step) = (SequentialTest::default(), VersionCounts::default());
        let mut is_alarm = false;
        for interval in 0..60 {
            let (canary, stable) = if interval < 30 { (1, 9) } else { (5, 5) };
            let mut draw = |each| {
                GroupCounts::new([each; GROUPS], std::array::from_fn(|_| binomial(&mut random, each, 0.02)))
            };
            let counts = VersionCounts { canary: draw(canary), stable: draw(stable) };
            if interval == 30 {
                step = VersionCounts::default();
            }
            step.add(&counts);
            test.add(&counts, &step, 10);
            is_alarm |= test.log_evidence().reaches(ROLLBACK);
        }
        sum += test.log_evidence().ratio();
        alarms += u32::from(is_alarm);
    }
    let mean = sum / f64::from(runs);
    assert!(mean <= 1.0, "a mean of {mean}");
    assert!(alarms <= runs / 20, "{alarms} of {runs}");
}
