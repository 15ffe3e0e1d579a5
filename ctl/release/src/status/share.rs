//! The share of new sessions and of requests that the canary got in a window.

use super::WindowTraffic;
use crate::format::counted;
use crate::metrics::VersionTraffic;
use crate::stats::{Verdict, wilson};
use assignment::Weight;
use serde::Serialize;
use std::fmt;

/// A version's part of a count, with the 95 % interval of its share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The canary's requests.
    pub canary: u64,
    /// The requests of all versions.
    pub of: u64,
    /// Lower end of the interval, `0.0..=1.0`.
    pub low: f64,
    /// Upper end of the interval, `0.0..=1.0`.
    pub high: f64,
}

/// The canary's shares of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedShare {
    /// Length of the window.
    pub seconds: u64,
    /// Of the sessions that were decided by the weight; `None` where sessions are not pinned, as inside the mesh, because
    /// a proxy cannot tell one from another there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_sessions: Option<Share>,
    /// Of all requests but those of testers. Sessions differ in how many they send.
    pub requests: Share,
    /// The requests of testers.
    pub overridden: u64,
    /// The requests of sessions older than the filter: the weight decides none of them.
    pub adopted: u64,
}

impl ObservedShare {
    /// The canary's share of a window. `counts_sessions`: whether a decision by weight is one of a new session.
    pub fn of(canary: &str, counted: &WindowTraffic, counts_sessions: bool) -> Self {
        let VersionTraffic { requests, of, decided, decided_of, .. } = counted.traffic.of(canary);
        Self {
            seconds: counted.time.as_secs(),
            new_sessions: counts_sessions.then(|| Share::new(decided, decided_of)),
            requests: Share::new(requests, of),
            overridden: counted.traffic.overridden(),
            adopted: counted.traffic.adopted(),
        }
    }

    /// The share of new sessions, where chance does not explain its difference from the weight.
    pub fn deviation(&self, weight: Weight) -> Option<Share> {
        let share = self.new_sessions?;
        let Share { canary, of, .. } = share;
        let fraction = f64::from(weight.basis_points()) / f64::from(Weight::FULL.basis_points());
        Verdict::of_share(canary, of, fraction).is_deviation().then_some(share)
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

impl fmt::Display for ObservedShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seen on the canary in {} s: ", self.seconds)?;
        if let Some(share) = self.new_sessions {
            write!(f, "new sessions {share}, ")?;
        }
        write!(f, "requests {}", self.requests)?;
        if self.overridden > 0 {
            write!(f, "; {} of testers", counted(self.overridden, "request", "requests"))?;
        }
        if self.adopted > 0 {
            write!(
                f,
                "; {} of sessions older than the filter, which the weight does not move",
                counted(self.adopted, "request", "requests")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn observed(canary: u64, of: u64) -> ObservedShare {
        ObservedShare {
            seconds: 60,
            new_sessions: Some(Share::new(canary, of)),
            requests: Share::new(9, 90),
            overridden: 2,
            adopted: 0,
        }
    }

    #[test]
    fn a_share_is_said_with_its_interval() {
        let text = "seen on the canary in 60 s: new sessions 20 of 100 (13.3 to 28.9%), requests 9 of 90 (5.4 to 17.9%); 2 requests of testers";
        assert_eq!(observed(20, 100).to_string(), text);
        let none = ObservedShare {
            new_sessions: None,
            requests: Share::new(0, 0),
            overridden: 0,
            adopted: 7,
            seconds: 2,
        };
        let text = "seen on the canary in 2 s: requests none; 7 requests of sessions older than the filter, which the weight does not move";
        assert_eq!(none.to_string(), text);
    }

    #[test]
    fn only_a_share_that_chance_does_not_explain_is_a_problem() {
        let weight = Weight::new(2000).unwrap();
        assert_eq!(observed(23, 100).deviation(weight), None);
        assert_eq!(observed(3, 10).deviation(weight), None, "too few");
        assert_eq!(observed(0, 0).deviation(weight), None);
        assert_eq!(observed(0, 100).deviation(weight).map(|share| (share.canary, share.of)), Some((0, 100)));
        let deviation = observed(1, 100).deviation(Weight::ZERO);
        assert_eq!(deviation.map(|share| (share.canary, share.of)), Some((1, 100)));
        assert_eq!(observed(100, 100).deviation(Weight::FULL), None);
    }
}
