//! The canary's share of users.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The canary's share of users.
///
/// A larger weight only ever *adds* users to the canary (see `assignment::Bucket::is_canary_at`), so raising it never
/// moves a canary user back to stable.
///
/// # Units
/// Basis points, `0..=10_000`: `Weight::new(1_250)` is 12.5 %. The plain integer in JSON, a percentage in text.
///
/// # Example
/// ```
/// use contract::Weight;
/// let weight: Weight = "12.5".parse()?;
/// assert_eq!(weight.basis_points(), 1_250);
/// assert_eq!(weight.to_string(), "12.5%");
/// # Ok::<(), contract::weight::WeightError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Weight(u16);

/// The error of a number that is no weight.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightError {
    /// Outside 0 to 100 %.
    #[error("expected a weight of 0% to 100%, found `{0}`")]
    OutOfRange(String),
    /// More precise than one basis point (0.01 %).
    #[error("expected a weight in steps of 0.01%, found `{0}`")]
    TooFine(String),
    /// Not a number at all.
    #[error("expected a percentage like `20`, `12.5` or `0.25%`, found `{0}`")]
    NotANumber(String),
}

impl Weight {
    /// 0 %: no user is assigned to the canary.
    pub const ZERO: Self = Self(0);
    /// 100 %: every user is assigned to the canary.
    pub const FULL: Self = Self(10_000);

    /// A weight from basis points. 0 is valid: only testers reach the canary.
    ///
    /// # Errors
    /// Above 10 000.
    pub fn new(basis_points: u32) -> Result<Self, WeightError> {
        match u16::try_from(basis_points) {
            Ok(value) if value <= Self::FULL.0 => Ok(Self(value)),
            _ => Err(WeightError::OutOfRange(Percent(basis_points).to_string())),
        }
    }

    /// The weight in basis points, `0..=10_000`.
    pub const fn basis_points(self) -> u16 {
        self.0
    }

    /// The weight as a fraction, `0.0..=1.0`.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}

impl fmt::Display for Weight {
    /// Percent without needless zeros: `20%`, `12.5%`, `0.01%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Percent(self.0.into()).fmt(f)
    }
}

/// A number of basis points, which need not be a weight.
struct Percent(u32);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 100, self.0 % 100);
        match (part, part % 10) {
            (0, _) => write!(f, "{whole}%"),
            (_, 0) => write!(f, "{whole}.{}%", part / 10),
            _ => write!(f, "{whole}.{part:02}%"),
        }
    }
}

impl FromStr for Weight {
    type Err = WeightError;

    /// Reads a percentage, exactly: decimal digits, never a float, so that `0.29` is 29 basis points.
    fn from_str(text: &str) -> Result<Self, WeightError> {
        let number = text.trim().trim_end_matches('%').trim_end();
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || (whole.is_empty() && part.is_empty()) || number.ends_with('.') {
            return Err(WeightError::NotANumber(text.to_owned()));
        }
        let part = part.trim_end_matches('0');
        if part.len() > 2 {
            return Err(WeightError::TooFine(text.to_owned()));
        }
        let out_of_range = || WeightError::OutOfRange(text.to_owned());
        let whole: u32 =
            if whole.is_empty() { 0 } else { whole.parse::<u32>().map_err(|_| out_of_range())? };
        let hundredths: u32 = format!("{part:0<2}").parse().map_err(|_| out_of_range())?;
        let basis_points =
            whole.checked_mul(100).and_then(|w| w.checked_add(hundredths)).ok_or_else(out_of_range)?;
        Self::new(basis_points).map_err(|_| out_of_range())
    }
}

impl TryFrom<u32> for Weight {
    type Error = WeightError;
    fn try_from(basis_points: u32) -> Result<Self, WeightError> {
        Self::new(basis_points)
    }
}

impl From<Weight> for u32 {
    fn from(weight: Weight) -> Self {
        Self::from(weight.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_read_without_rounding() {
        for (text, basis_points) in [
            ("0", 0),
            ("20", 2000),
            ("12.5", 1250),
            ("0.01%", 1),
            ("99.99", 9999),
            ("100 %", 10_000),
            (".5", 50),
        ] {
            assert_eq!(text.parse::<Weight>().map(Weight::basis_points), Ok(basis_points), "{text}");
        }
    }

    #[test]
    fn what_is_no_percentage_is_refused_with_its_reason() {
        for text in ["", "%", "-1", "1e1", "1.", "ten", "1,5"] {
            assert!(matches!(text.parse::<Weight>(), Err(WeightError::NotANumber(_))), "{text}");
        }
        let parsed = "0.001".parse::<Weight>();
        assert!(matches!(parsed, Err(WeightError::TooFine(_))), "{parsed:?}");
        for text in ["100.01", "101", "99999999999"] {
            assert!(matches!(text.parse::<Weight>(), Err(WeightError::OutOfRange(_))), "{text}");
        }
    }

    #[test]
    fn a_number_above_a_hundred_percent_is_refused_in_percent() {
        let expected = "expected a weight of 0% to 100%, found ";
        assert_eq!("150".parse::<Weight>().unwrap_err().to_string(), format!("{expected}`150`"));
        assert_eq!(Weight::new(15_050).unwrap_err().to_string(), format!("{expected}`150.5%`"));
    }

    #[test]
    fn a_weight_prints_as_people_write_it() {
        for (basis_points, text) in
            [(0, "0%"), (1, "0.01%"), (50, "0.5%"), (1205, "12.05%"), (10_000, "100%")]
        {
            assert_eq!(Weight::new(basis_points).unwrap().to_string(), text);
        }
    }
}
