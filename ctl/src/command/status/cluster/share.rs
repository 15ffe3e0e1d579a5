//! The share of users and of requests that the canary has been seen to get.

use super::window::Counted;
use crate::cluster::Part;
use crate::simulate::share::{Verdict, wilson};
use assignment::Weight;
use serde::Serialize;
use std::fmt;

/// What a version got of something that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Share {
    canary: u64,
    of: u64,
    /// The 95 % interval of the share, `0.0..=1.0`.
    low: f64,
    high: f64,
}

/// The canary's shares of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenShare {
    seconds: u64,
    /// Of the sessions that were decided by the weight. Nobody knows where users are not pinned, as inside the mesh:
    /// proxies cannot tell one from another.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_sessions: Option<Share>,
    /// Of all requests but those of testers. Sessions differ in how many they send.
    requests: Share,
    /// The requests of testers.
    overridden: u64,
}

impl SeenShare {
    pub(super) fn of(canary: &str, counted: &Counted, counts_sessions: bool) -> Self {
        let Part { requests, of, decided, decided_of, .. } = counted.traffic.of(canary);
        Self {
            seconds: counted.time.as_secs(),
            new_sessions: counts_sessions.then(|| Share::new(decided, decided_of)),
            requests: Share::new(requests, of),
            overridden: counted.traffic.overridden(),
        }
    }

    /// Whether new sessions get something else than the weight, and chance does not explain it.
    pub(super) fn deviates(&self, weight: Weight) -> Option<String> {
        let Share { canary, of, .. } = self.new_sessions?;
        let rest = u32::from(Weight::FULL.basis_points().saturating_sub(weight.basis_points()));
        #[expect(clippy::cast_precision_loss, reason = "a window holds fewer sessions than 2^52")]
        let expected = |points: u32| of as f64 * f64::from(points) / f64::from(Weight::FULL.basis_points());
        let cells =
            [(canary, expected(weight.basis_points().into())), (of.saturating_sub(canary), expected(rest))];
        (of > 0 && Verdict::of(&cells).is_deviation()).then(|| {
            format!(
                "{canary} of {of} new sessions came to the canary in {} s, at a weight of {weight}",
                self.seconds
            )
        })
    }
}

impl Share {
    fn new(canary: u64, of: u64) -> Self {
        let (low, high) = wilson(canary, of);
        Self { canary, of, low, high }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { canary, of, low, high } = self;
        if *of == 0 {
            return f.write_str("none");
        }
        write!(f, "{canary} of {of} ({:.1} to {:.1}%)", low * 100.0, high * 100.0)
    }
}

impl fmt::Display for SeenShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seen on the canary in {} s: ", self.seconds)?;
        if let Some(share) = self.new_sessions {
            write!(f, "new sessions {share}, ")?;
        }
        write!(f, "requests {}", self.requests)?;
        if self.overridden > 0 {
            write!(f, "; {} requests of testers", self.overridden)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(canary: u64, of: u64) -> SeenShare {
        SeenShare {
            seconds: 60,
            new_sessions: Some(Share::new(canary, of)),
            requests: Share::new(9, 90),
            overridden: 2,
        }
    }

    #[test]
    fn a_share_is_said_with_its_interval() {
        let text = "seen on the canary in 60 s: new sessions 20 of 100 (13.3 to 28.9%), requests 9 of 90 (5.4 to 17.9%); 2 requests of testers";
        assert_eq!(seen(20, 100).to_string(), text);
        let nobody = SeenShare { new_sessions: None, requests: Share::new(0, 0), overridden: 0, seconds: 2 };
        assert_eq!(nobody.to_string(), "seen on the canary in 2 s: requests none");
    }

    #[test]
    fn only_a_share_that_chance_does_not_explain_is_a_problem() {
        let weight = Weight::new(2000).unwrap();
        assert_eq!(seen(23, 100).deviates(weight), None);
        assert_eq!(seen(3, 10).deviates(weight), None, "too few");
        assert_eq!(seen(0, 0).deviates(weight), None);
        let said = "0 of 100 new sessions came to the canary in 60 s, at a weight of 20%";
        assert_eq!(seen(0, 100).deviates(weight).as_deref(), Some(said));
        assert!(seen(1, 100).deviates(Weight::ZERO).is_some());
        assert_eq!(seen(100, 100).deviates(Weight::FULL), None);
    }
}
