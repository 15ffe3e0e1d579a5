//! How much more the failures of stable cluster by user than independent failures would.
//!
//! Stable's, because the canary's own clusters may be its fault: what a rollout is to find. Both cluster alike while both are equally good.

use super::counts::sum;
use super::{GroupCounts, ResponseCount};
use crate::stats::as_f64;

/// Fewer failures say nothing about their spread.
const MIN_FAILED: u64 = 8;
/// The groups with the highest rates that are left out: a user who fails all the time is one cluster, and says nothing about the others.
const LEFT_OUT: usize = 4;
/// The part of the dispersion that is left without them, of sixteen groups that differ by chance: of 16 normal numbers the 12 lowest (simulated).
const LEFT: f64 = 0.5625;

/// The dispersion of failures over the groups, at least 1: Pearson's chi-square by its degrees of freedom, without the worst groups.
///
/// # Source
/// `McCullagh` and Nelder, "Generalized linear models", equation 4.23 (the estimate of the dispersion parameter).
pub(super) fn dispersion(counts: &GroupCounts) -> f64 {
    let mut groups: Vec<ResponseCount> = counts.groups().filter(|count| count.responses > 0).collect();
    groups.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
    groups.truncate(groups.len().saturating_sub(LEFT_OUT));
    let total = sum(groups.iter().copied());
    if total.failed < MIN_FAILED || groups.len() < 2 {
        return 1.0;
    }
    let cell = |count: &ResponseCount| {
        let expected = as_f64(count.responses) * total.rate();
        (as_f64(count.failed) - expected).powi(2) / expected
    };
    let freedom = as_f64(groups.len() as u64) - 1.0;
    f64::max(1.0, groups.iter().map(cell).sum::<f64>() / freedom / LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::GROUPS;

    fn of(failed: [u64; GROUPS]) -> f64 {
        dispersion(&GroupCounts::new([100; GROUPS], failed))
    }

    #[test]
    fn even_failures_have_no_more_spread_than_chance() {
        assert!((of([2; GROUPS]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn failures_of_half_of_the_groups_have_the_spread_of_the_textbook() {
        let mut failed = [0; GROUPS];
        failed[..8].fill(6);
        // Of twelve groups four have failed 6 times; expected 2 in each: (4 · 16 + 8 · 4) / (2 · 11).
        let found = of(failed);
        assert!((found - 96.0 / 22.0 / LEFT).abs() < 1e-9, "{found}");
    }

    #[test]
    fn four_groups_that_always_fail_do_not_change_the_spread_of_the_others() {
        let mut failed = [2; GROUPS];
        failed[..4].fill(100);
        assert!((of(failed) - 1.0).abs() < 1e-12);
        failed[4] = 100;
        assert!(of(failed) > 10.0);
    }

    #[test]
    fn few_failures_say_nothing() {
        let mut failed = [0; GROUPS];
        failed[..5].fill(7);
        assert!((of(failed) - 1.0).abs() < 1e-12);
    }
}
