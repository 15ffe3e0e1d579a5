//! A log-likelihood ratio in whole numbers, so that a record that was written and read again is equal to itself.

use crate::stats::as_f64;
use serde::{Deserialize, Serialize};

/// The natural logarithm of a likelihood ratio.
///
/// # Units
/// Millionths of a nat. A test rounds once an interval: after a day of intervals of ten seconds it is off by less than 1 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogRatio(i64);

const NAT: f64 = 1e6;

/// Beyond this a ratio is not printed: e^50 is certainty.
const MAX_PRINTED: f64 = 50.0;

impl LogRatio {
    /// From nats. What is no number is no evidence.
    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates, at 10^12 nats")]
    pub fn from_nats(nats: f64) -> Self {
        if nats.is_nan() { Self(0) } else { Self((nats * NAT).round() as i64) }
    }

    /// In nats; always finite.
    #[expect(clippy::cast_precision_loss, reason = "a sum of logarithms stays below 2^53 millionths")]
    pub fn nats(self) -> f64 {
        self.0 as f64 / NAT
    }

    /// The ratio itself, finite: from e^-50 to e^50.
    pub fn ratio(self) -> f64 {
        self.nats().clamp(-MAX_PRINTED, MAX_PRINTED).exp()
    }

    /// The product of two ratios.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// The logarithm of the sum of the exponentials, without overflow.
pub(super) fn sum_of_exp<const N: usize>(logs: [f64; N]) -> f64 {
    let largest = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.into_iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// The logarithm of the mean of the exponentials, without overflow.
pub(super) fn mean_of_exp<const N: usize>(logs: [f64; N]) -> f64 {
    sum_of_exp(logs) - as_f64(N as u64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_input_makes_a_ratio_that_is_not_finite() {
        for nats in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            let log = LogRatio::from_nats(nats);
            let sum = log.times(log).times(LogRatio::from_nats(1.0));
            assert!(sum.nats().is_finite() && sum.ratio().is_finite(), "{nats}: {sum:?}");
        }
        assert!((LogRatio::from_nats(20_f64.ln()).ratio() - 20.0).abs() < 1e-4);
    }
}
