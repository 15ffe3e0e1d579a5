//! From which time on a response counts as slow: a time, or a percentile of stable's responses.

use super::Milliseconds;
use std::fmt;
use std::str::FromStr;

/// From which time on a response counts as slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowerThan {
    /// This one.
    Time(Milliseconds),
    /// The one that this share of stable's responses does not exceed when a rollout is started.
    OfStable(LatencyPercentile),
}

/// A share of responses by the time that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyPercentile {
    /// 90 %.
    P90,
    /// 95 %.
    P95,
    /// 99 %.
    P99,
}

/// The text is neither.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a duration like `500ms` or `2s`, below 1000 s, or `p90`, `p95` or `p99` of stable's responses, found `{0}`"
)]
pub struct SlowerThanError(String);

impl LatencyPercentile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::P90, Self::P95, Self::P99];

    /// The share in percent.
    pub const fn percent(self) -> u64 {
        match self {
            Self::P90 => 90,
            Self::P95 => 95,
            Self::P99 => 99,
        }
    }
}

impl fmt::Display for LatencyPercentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.percent())
    }
}

impl FromStr for SlowerThan {
    type Err = SlowerThanError;

    fn from_str(text: &str) -> Result<Self, SlowerThanError> {
        let percentile =
            LatencyPercentile::ALL.into_iter().find(|percentile| percentile.to_string() == text.trim());
        match percentile {
            Some(percentile) => Ok(Self::OfStable(percentile)),
            None => text.parse().map(Self::Time).map_err(|_| SlowerThanError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_or_a_percentile_of_stable_is_read_and_nothing_else() {
        assert_eq!("250ms".parse(), Ok(SlowerThan::Time("250ms".parse().unwrap())));
        assert_eq!("p95".parse(), Ok(SlowerThan::OfStable(LatencyPercentile::P95)));
        for text in ["p50", "95", "P95", "p", "250", ""] {
            let error = text.parse::<SlowerThan>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("`p99` of stable's responses, found `{text}`")), "{error}");
        }
    }
}
