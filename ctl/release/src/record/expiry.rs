//! When a weight ends by itself.

use crate::spec::{Seconds, SecondsError};
use assignment::contract::{ExpiryAction, Until};
use std::str::FromStr;

/// When a weight ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// After so long: `2h`.
    After(Seconds),
    /// `never`.
    Never,
}

impl Expiry {
    /// The end of a weight that is set at `now` (seconds since 1970), where `before` is the end of the weight before it. That one
    /// stays unless another is asked for: a canary whose operator is gone ends by itself, also after a correction of its weight.
    pub fn until(
        asked: Option<Self>,
        before: Option<Until>,
        now: u64,
        action: ExpiryAction,
    ) -> Option<Until> {
        match asked {
            Some(Self::After(time)) => Some(Until { at_seconds: now.saturating_add(time.get()), action }),
            Some(Self::Never) => None,
            None => before.filter(|until| until.at_seconds > now),
        }
    }
}

impl FromStr for Expiry {
    type Err = SecondsError;

    fn from_str(text: &str) -> Result<Self, SecondsError> {
        if text == "never" { Ok(Self::Never) } else { text.parse().map(Self::After) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_keeps_the_end_of_the_one_before_unless_another_is_asked_for_or_it_has_passed() {
        let until = |at_seconds| Until { at_seconds, action: ExpiryAction::Rollback };
        let at_100 = |asked: Option<&str>, before| {
            let asked = asked.map(|text| text.parse().unwrap());
            Expiry::until(asked, before, 100, ExpiryAction::Rollback)
        };
        assert_eq!(at_100(None, Some(until(130))), Some(until(130)));
        assert_eq!(at_100(None, Some(until(100))), None, "it has passed");
        assert_eq!(at_100(Some("never"), Some(until(130))), None);
        assert_eq!(at_100(Some("1m"), Some(until(130))), Some(until(160)));
        assert_eq!(at_100(None, None), None);
        assert!("soon".parse::<Expiry>().is_err());
    }
}
