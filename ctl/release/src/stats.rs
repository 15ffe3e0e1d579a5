//! Statistics of shares: the interval of an observed share, and whether it fits the expected one.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::fmt;

/// Below this probability a difference is no accident. Small, because a plan has many steps and each is a test.
pub const SIGNIFICANCE: f64 = 0.000_1;

/// The least number that a cell must be expected to hold. Twice the textbook's, because so small a significance is in
/// the far tail, where chi-square is too strict with small cells.
const LEAST_EXPECTED: f64 = 10.0;

/// The normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a share, by Wilson's score: right at 0 and at 1 too, where the usual one has no width.
///
/// # Shape
/// Fractions, `0.0..=1.0`; the whole range for a sample of none.
///
/// # Source
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
pub fn wilson(hits: u64, of: u64) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (n, p, z2) = (as_f64(of), as_f64(hits) / as_f64(of), Z_95 * Z_95);
    let middle = p + z2 / (2.0 * n);
    let reach = Z_95 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    (((middle - reach) / scale).max(0.0), ((middle + reach) / scale).min(1.0))
}

/// The result of a chi-square test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum Verdict {
    /// The difference is what chance gives.
    Fits {
        /// The statistic.
        chi_square: f64,
        /// The probability of a difference at least this large by chance.
        p: f64,
    },
    /// The difference is no accident.
    Deviates {
        /// The statistic.
        chi_square: f64,
        /// The probability of a difference at least this large by chance.
        p: f64,
    },
    /// The expected share is 0 or 100 %, and the observed one is equal to it: no test is needed.
    Exact,
    /// Too few were seen for a verdict.
    TooFew,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits { chi_square, p } => write!(f, "fits ({chi_square:.2}, p = {p:.3})"),
            Self::Deviates { chi_square, p } => write!(f, "deviates ({chi_square:.2}, p = {p:.1e})"),
            Self::Exact => f.write_str("exact"),
            Self::TooFew => f.write_str("too few to tell"),
        }
    }
}

impl Verdict {
    /// Whether the share is wrong.
    pub fn is_deviation(self) -> bool {
        matches!(self, Self::Deviates { .. })
    }

    /// Tests counts, each with what was expected of it.
    pub fn of(cells: &[(u64, f64)]) -> Self {
        let mut impossible = cells.iter().filter(|(_, expected)| *expected == 0.0).peekable();
        if impossible.peek().is_some() {
            let is_seen = impossible.any(|(seen, _)| *seen > 0);
            return if is_seen { Self::Deviates { chi_square: f64::INFINITY, p: 0.0 } } else { Self::Exact };
        }
        if cells.iter().any(|(_, expected)| *expected < LEAST_EXPECTED) {
            return Self::TooFew;
        }
        let chi_square =
            cells.iter().map(|(seen, expected)| (as_f64(*seen) - expected).powi(2) / expected).sum();
        let freedom = as_f64(cells.len() as u64) - 1.0;
        match ChiSquared::new(freedom).map(|distribution| distribution.sf(chi_square)) {
            Ok(p) if p < SIGNIFICANCE => Self::Deviates { chi_square, p },
            Ok(p) => Self::Fits { chi_square, p },
            Err(_) => Self::TooFew,
        }
    }

    /// Tests a share of users against a weight's fraction.
    pub fn of_share(hits: u64, of: u64, asked: f64) -> Self {
        if of == 0 {
            return Self::TooFew;
        }
        let expected = as_f64(of) * asked;
        Self::of(&[(hits, expected), (of - hits.min(of), as_f64(of) - expected)])
    }

    /// Tests whether counts are spread evenly.
    pub fn of_even_spread(counts: &[u64]) -> Self {
        let expected = as_f64(counts.iter().sum()) / as_f64(counts.len() as u64);
        let cells: Vec<(u64, f64)> = counts.iter().map(|seen| (*seen, expected)).collect();
        Self::of(&cells)
    }
}

/// Exact to 2^53, far above any number of users.
#[expect(clippy::cast_precision_loss, reason = "counts of users stay below 2^53")]
pub const fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Worked with R: binom::binom.wilson(10, 100) and (0, 20).
        let (low, high) = wilson(10, 100);
        assert!((low - 0.055_229_1).abs() < 1e-6 && (high - 0.174_365_7).abs() < 1e-6, "{low} {high}");
        let (low, high) = wilson(0, 20);
        assert!(low == 0.0 && (high - 0.161_125_1).abs() < 1e-6, "{low} {high}");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn a_share_near_the_weight_fits_and_one_far_from_it_does_not() {
        // (220 - 200)² / 200 + (780 - 800)² / 800 = 2.5
        match Verdict::of_share(220, 1_000, 0.2) {
            Verdict::Fits { chi_square, p } => {
                assert!((chi_square - 2.5).abs() < 1e-9 && (p - 0.113_846).abs() < 1e-5, "{chi_square} {p}");
            }
            other => panic!("{other:?}"),
        }
        let verdict = Verdict::of_share(300, 1_000, 0.2);
        assert!(verdict.is_deviation(), "{verdict:?}");
    }

    #[test]
    fn shares_of_0_and_100_percent_have_no_variance() {
        assert_eq!(Verdict::of_share(0, 50, 0.0), Verdict::Exact);
        assert_eq!(Verdict::of_share(50, 50, 1.0), Verdict::Exact);
        for verdict in [Verdict::of_share(1, 50, 0.0), Verdict::of_share(49, 50, 1.0)] {
            assert!(verdict.is_deviation(), "{verdict:?}");
        }
    }

    #[test]
    fn few_users_give_no_verdict() {
        assert_eq!(Verdict::of_share(1, 100, 0.01), Verdict::TooFew);
        assert_eq!(Verdict::of_share(0, 0, 0.5), Verdict::TooFew);
    }

    #[test]
    fn an_even_spread_fits_and_a_heap_does_not() {
        let even = Verdict::of_even_spread(&[100, 110, 95, 95]);
        assert!(!even.is_deviation(), "{even:?}");
        let heap = Verdict::of_even_spread(&[100, 100, 100, 200]);
        assert!(heap.is_deviation(), "{heap:?}");
    }
}
