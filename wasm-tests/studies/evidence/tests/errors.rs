//! The test of the evidence on simulated users, with fixed seeds: how often it is wrong, and how soon it is right.

use evidence_bench::rollouts::{Alarms, Method, simulate};
use evidence_bench::tables::HALF_HOUR;
use evidence_bench::users::{Clustering, Scenario};

const ROLLOUTS: u64 = 150;

fn scenario(rates: (f64, f64), weight: f64, clustering: Clustering) -> Scenario {
    let (stable_rate, canary_rate) = rates;
    Scenario { requests_per_second: 10, weight, canary_rate, stable_rate, clustering }
}

fn by<const N: usize>(scenario: Scenario, methods: [Method; N]) -> [Alarms; N] {
    simulate(scenario, methods, ROLLOUTS, HALF_HOUR)
}

fn shares<const N: usize>(alarms: &[Alarms; N]) -> [f64; N] {
    alarms.each_ref().map(|alarms| alarms.share_by(HALF_HOUR))
}

#[test]
fn good_canaries_are_rarely_rolled_back_where_failures_are_of_few_users() {
    for clustering in [Clustering::Independent, Clustering::FewUsers, Clustering::FewUsersAndBot] {
        for weight in [0.1, 0.5] {
            let [rollback] = shares(&by(scenario((0.01, 0.01), weight, clustering), [Method::Rollback]));
            assert!(rollback <= 0.05, "{clustering:?} at {weight}: {rollback}");
        }
    }
}

#[test]
fn a_z_test_at_each_observation_and_a_fixed_limit_are_wrong_far_more_often() {
    let equal = scenario((0.01, 0.01), 0.1, Clustering::Independent);
    let [rollback, z_test, fixed] = shares(&by(equal, [Method::Rollback, Method::ZTest, Method::FixedLimit]));
    assert!(z_test > 3.0 * rollback + 0.05 && fixed > 0.9, "{rollback} {z_test} {fixed}");
}

#[test]
fn without_groups_clustered_failures_convict_good_canaries() {
    let equal = scenario((0.01, 0.01), 0.1, Clustering::FewUsers);
    let [rollback, without] = shares(&by(equal, [Method::Rollback, Method::WithoutGroups]));
    assert!(without > 0.08 && rollback < without / 3.0, "{rollback} {without}");
}

#[test]
fn a_broken_canary_is_found_within_minutes() {
    let [broken] = by(scenario((0.001, 0.05), 0.1, Clustering::Independent), [Method::Rollback]);
    assert!(broken.share_by(600) > 0.95, "{}", broken.share_by(600));
    assert!(broken.median().is_some_and(|seconds| (60..=200).contains(&seconds)), "{:?}", broken.median());
}

#[test]
fn the_same_seed_gives_the_same_rollout() {
    let worse = scenario((0.001, 0.01), 0.1, Clustering::FewUsers);
    assert_eq!(by(worse, [Method::Rollback]), by(worse, [Method::Rollback]));
}
