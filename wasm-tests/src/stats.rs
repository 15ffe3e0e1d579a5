//! Is a share what it should be? A test of significance, so that a test's tolerance is a probability and no guess.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

/// A test asserts `p >= UNLIKELY`: a correct filter fails it once in a million runs.
pub const UNLIKELY: f64 = 1e-6;

/// With fewer expected hits (or misses) the chi-square's far tail is wrong: with one expected hit it calls six hits
/// "once in two million", and they occur once in a thousand.
const FEW: f64 = 1_000.0;

/// Probability that `hits` of `draws` differ from `share` (0 to 1) at least as much as seen, if the share is right.
///
/// Pearson's chi-square with one degree of freedom, or where few hits are expected twice the binomial's smaller tail,
/// which is exact. A share of 0 or 1 allows no deviation: 1 when there is none, else 0. No draws say nothing: 1.
///
/// ```
/// use wasm_tests::stats::{share_p_value, UNLIKELY};
/// assert!(share_p_value(2_043, 10_000, 0.20) > UNLIKELY);
/// assert!(share_p_value(2_500, 10_000, 0.20) < UNLIKELY);
/// assert!(share_p_value(6, 10_000, 0.000_1) > UNLIKELY);
/// ```
pub fn share_p_value(hits: u64, draws: u64, share: f64) -> f64 {
    let misses = draws.saturating_sub(hits);
    let expected = float(draws) * share.min(1.0 - share);
    match Binomial::new(share, draws) {
        Ok(law) if expected > 0.0 && expected < FEW => binomial_p_value(&law, hits),
        _ => chi_square_p_value(&[hits, misses], &[share, 1.0 - share]),
    }
}

fn binomial_p_value(law: &Binomial, hits: u64) -> f64 {
    let at_most = law.cdf(hits);
    let at_least = hits.checked_sub(1).map_or(1.0, |fewer| law.sf(fewer));
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// Pearson's chi-square over several classes: counts seen against the share each should have (they sum to 1).
///
/// A class that should be empty must be empty, else the result is 0; classes without a share add no degree of freedom.
pub fn chi_square_p_value(seen: &[u64], shares: &[f64]) -> f64 {
    let draws = float(seen.iter().sum());
    let classes: Vec<(f64, f64)> =
        seen.iter().map(|&n| float(n)).zip(shares.iter().map(|s| s * draws)).collect();
    if classes.iter().any(|(seen, expected)| *expected <= 0.0 && *seen > 0.0) {
        return 0.0;
    }
    let possible: Vec<_> = classes.into_iter().filter(|(_, expected)| *expected > 0.0).collect();
    let chi_square: f64 = possible.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    // Fewer than two classes leave nothing to be wrong about: zero degrees of freedom are no distribution.
    ChiSquared::new(float(possible.len() as u64) - 1.0).map_or(1.0, |law| law.sf(chi_square))
}

/// Counts in tests are far below 2^52, where a float is exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(count: u64) -> f64 {
    count as f64
}
