//! A share in a specification: `5%`, `0.1`.

use assignment::Weight;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A share of responses or of rollouts, from 0 to 100 %.
///
/// # Units
/// Basis points in JSON, a percentage in text: that of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Percentage(Weight);

/// The text is no percentage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a percentage from 0 to 100 in steps of 0.01, like `5%` or `0.1`, found `{0}`")]
pub struct PercentageError(String);

impl Percentage {
    /// From basis points; more than 10,000 are 100 %.
    pub fn from_basis_points(basis_points: u32) -> Self {
        Self(Weight::new(basis_points).unwrap_or(Weight::FULL))
    }

    /// The share as a fraction, `0.0..=1.0`.
    pub fn as_fraction(self) -> f64 {
        self.0.as_fraction()
    }
}

impl FromStr for Percentage {
    type Err = PercentageError;
    fn from_str(text: &str) -> Result<Self, PercentageError> {
        text.parse().map(Self).map_err(|_| PercentageError(text.to_owned()))
    }
}

impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_goes_there_and_back() {
        let found: Percentage = "0.25%".parse().unwrap();
        assert_eq!(found.to_string(), "0.25%");
        assert!((found.as_fraction() - 0.0025).abs() < 1e-12);
        let wrong = "5 per cent".parse::<Percentage>().unwrap_err().to_string();
        assert!(wrong.ends_with("found `5 per cent`"), "{wrong}");
    }
}
