//! How much more the failures of a version cluster by user than independent failures would.

use super::{GroupCounts, ResponseCount};
use crate::stats::as_f64;

/// Fewer failures of a version say nothing about its spread.
const MIN_FAILED: u64 = 8;

/// The dispersion of failures over the groups of each version, at least 1: Pearson's chi-square by its degrees of freedom.
/// One group may be left out. A version with fewer than 8 failures does not count.
///
/// # Source
/// `McCullagh` and Nelder, "Generalized linear models", equation 4.23 (the estimate of the dispersion parameter).
pub(super) fn dispersion<'c>(versions: impl IntoIterator<Item = &'c GroupCounts>, left_out: usize) -> f64 {
    let parts = versions.into_iter().filter_map(|counts| chi_square(counts, left_out));
    let (chi_square, freedom) =
        parts.fold((0.0, 0.0), |(chi_square, freedom), part| (chi_square + part.0, freedom + part.1));
    if freedom > 0.0 { f64::max(1.0, chi_square / freedom) } else { 1.0 }
}

/// Chi-square of a version's failures over its groups, and its degrees of freedom.
fn chi_square(counts: &GroupCounts, left_out: usize) -> Option<(f64, f64)> {
    let total = counts.total_without(left_out);
    if total.failed < MIN_FAILED {
        return None;
    }
    let rate = total.rate();
    let groups = counts.groups().enumerate();
    let used = groups.filter(|(group, count)| *group != left_out && count.responses > 0);
    let cell = |count: ResponseCount| {
        let expected = as_f64(count.responses) * rate;
        (as_f64(count.failed) - expected).powi(2) / expected
    };
    let (chi_square, cells) =
        used.fold((0.0, 0.0), |(sum, cells), (_, count)| (sum + cell(count), cells + 1.0));
    (cells > 1.0).then_some((chi_square, cells - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::GROUPS;

    #[test]
    fn even_failures_have_no_more_spread_than_chance() {
        let even = GroupCounts::new([100; GROUPS], [2; GROUPS]);
        assert!((dispersion([&even], GROUPS) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn failures_of_one_group_have_the_spread_of_the_textbook() {
        let mut failed = [0; GROUPS];
        failed[3] = 16;
        // expected 1 in each of 16 cells: (15² + 15 · 1) / 15 = 16
        let heap = GroupCounts::new([100; GROUPS], failed);
        let found = dispersion([&heap], GROUPS);
        assert!((found - 16.0).abs() < 1e-9, "{found}");
        let without = dispersion([&heap], 3);
        assert!((without - 1.0).abs() < 1e-12, "without that group nothing failed: {without}");
    }

    #[test]
    fn few_failures_say_nothing() {
        let mut failed = [0; GROUPS];
        failed[0] = 7;
        let found = dispersion([&GroupCounts::new([100; GROUPS], failed)], GROUPS);
        assert!((found - 1.0).abs() < 1e-12, "{found}");
    }
}
