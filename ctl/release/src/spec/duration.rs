//! Durations in a specification: `30m`, `24h`, `7d`; of a response `500ms`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A duration in whole seconds, more than none. As JSON their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Seconds(u64);

/// The text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a duration like `90s`, `30m`, `24h` or `7d`, found `{0}`")]
pub struct SecondsError(String);

/// A duration in whole milliseconds, more than none and less than 1,000 s. As JSON their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Milliseconds(u64);

/// The text is no duration of a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a duration like `500ms` or `2s`, below 1000 s, found `{0}`")]
pub struct MillisecondsError(String);

const MILLISECONDS_PER_SECOND: u64 = 1_000;
/// A response that takes longer is no response.
const MAX_MILLISECONDS: u64 = 999_999;

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

impl Seconds {
    /// Ten seconds.
    pub const TEN_SECONDS: Self = Self(10);
    /// A minute.
    pub const MINUTE: Self = Self(60);
    /// Ten minutes.
    pub const TEN_MINUTES: Self = Self(600);
    /// An hour.
    pub const HOUR: Self = Self(3_600);
    /// A day.
    pub const DAY: Self = Self(86_400);

    /// A number of seconds; none is no duration.
    pub const fn new(seconds: u64) -> Option<Self> {
        if seconds == 0 { None } else { Some(Self(seconds)) }
    }

    /// The number of seconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Seconds {
    type Err = SecondsError;

    /// Reads one number and one unit, or several (`1h30m`), larger units first.
    fn from_str(text: &str) -> Result<Self, SecondsError> {
        let wrong = || SecondsError(text.to_owned());
        let mut rest = text.trim();
        let mut total: u64 = 0;
        let mut largest = u64::MAX;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, tail) = rest.split_at_checked(digits).ok_or_else(wrong)?;
            let mut tail_chars = tail.chars();
            let letter = tail_chars.next().ok_or_else(wrong)?;
            let (_, unit) = UNITS.into_iter().find(|(name, _)| *name == letter).ok_or_else(wrong)?;
            if unit >= largest {
                return Err(wrong());
            }
            largest = unit;
            let number: u64 = number.parse().map_err(|_| wrong())?;
            total = number.checked_mul(unit).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
            rest = tail_chars.as_str();
        }
        Self::new(total).ok_or_else(wrong)
    }
}

impl TryFrom<u64> for Seconds {
    type Error = SecondsError;
    fn try_from(seconds: u64) -> Result<Self, SecondsError> {
        Self::new(seconds).ok_or_else(|| SecondsError(seconds.to_string()))
    }
}

impl From<Seconds> for u64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (name, unit) in UNITS {
            if rest >= unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        Ok(())
    }
}

impl Milliseconds {
    /// The number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Milliseconds {
    type Err = MillisecondsError;

    /// Reads `500ms` or `2s`.
    fn from_str(text: &str) -> Result<Self, MillisecondsError> {
        let text = text.trim();
        let units = [("ms", 1), ("s", MILLISECONDS_PER_SECOND)];
        let number = units.into_iter().find_map(|(unit, size)| {
            let digits =
                text.strip_suffix(unit).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
            digits.parse::<u64>().ok()?.checked_mul(size)
        });
        let time = number.and_then(|number| Self::try_from(number).ok());
        time.ok_or_else(|| MillisecondsError(text.to_owned()))
    }
}

impl TryFrom<u64> for Milliseconds {
    type Error = MillisecondsError;
    fn try_from(milliseconds: u64) -> Result<Self, MillisecondsError> {
        let is_allowed = (1..=MAX_MILLISECONDS).contains(&milliseconds);
        is_allowed.then_some(Self(milliseconds)).ok_or_else(|| MillisecondsError(format!("{milliseconds}ms")))
    }
}

impl From<Milliseconds> for u64 {
    fn from(milliseconds: Milliseconds) -> Self {
        milliseconds.0
    }
}

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / MILLISECONDS_PER_SECOND;
        if seconds * MILLISECONDS_PER_SECOND == self.0 {
            write!(f, "{seconds}s")
        } else {
            write!(f, "{}ms", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_goes_there_and_back() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("1h30m", 5400)]
        {
            assert_eq!(text.parse::<Seconds>().map(Seconds::get), Ok(seconds));
            let printed = Seconds(seconds).to_string();
            assert_eq!(printed.parse::<Seconds>().map(Seconds::get), Ok(seconds));
        }
        assert_eq!(Seconds(5400).to_string(), "1h30m");
    }

    #[test]
    fn the_time_of_a_response_goes_there_and_back() {
        for (text, milliseconds) in [("500ms", 500), ("2s", 2_000), ("90s", 90_000), ("1500ms", 1_500)] {
            let read = text.parse::<Milliseconds>();
            assert_eq!(read.as_ref().map(|read| read.get()), Ok(milliseconds));
            assert_eq!(read.map(|read| read.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "0ms", "500", "ms", "-1ms", "+1ms", "1.5s", "1000s", "1m", "1s500ms"] {
            assert!(text.parse::<Milliseconds>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "0s", "5", "h", "1.5h", "-1h", "30m1h", "1h1h", "99999999999999999999s", "1y"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
