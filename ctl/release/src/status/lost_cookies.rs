//! Clients that do not return the filter's cookies: browsers drop `Secure` cookies that come by plain HTTP, and something in
//! front of the gateway may remove cookies.
//!
//! A proxy cannot tell a session whose pin was lost from one that is older than the filter: both come with a session cookie alone,
//! and are adopted. But the latter return the pin that they are given, and new sessions do so with their second request. Where
//! sessions begin and come back, and hardly a pin does, cookies are lost. A session that began on the canary is on stable then.

use super::{Observation, WindowTraffic};
use crate::metrics::ReturningSessions;
use std::fmt;
use std::time::Duration;

/// After an installation all sessions come back without a pin. So many seconds later those that are active have one.
const SETTLED_SECONDS: u64 = 60;
/// As many users as must have begun: each pin that comes back is one of a session that was adopted or began here.
const MIN_DECIDED: u64 = 3;
/// As many requests must have come without a pin.
const MIN_WITHOUT_PIN: u64 = 10;
/// So many times as many requests must have come without a pin as with one.
const MIN_RATIO: u64 = 50;

/// Clients do not return the filter's cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCookies {
    /// The rate at which sessions return.
    pub sessions: ReturningSessions,
    /// In which time; `None`: since the proxies started.
    pub within: Option<Duration>,
}

impl LostCookies {
    /// Whether they do, as far as the counters say; `None` where pins come back, where no session is pinned, and where it is not known.
    ///
    /// `now` in seconds since 1970.
    pub fn observed(observation: &Observation, now: u64) -> Option<Self> {
        let counted = observation.traffic.as_ref().filter(|_| observation.counts_sessions)?;
        Self::of(counted, now.saturating_sub(observation.record.state.installed_at_seconds))
    }

    /// The finding of the window or, if it has too few requests, of all counts. `installed_for` in seconds.
    fn of(counted: &WindowTraffic, installed_for: u64) -> Option<Self> {
        let (window, total) = (counted.traffic.returning_sessions(), counted.total.returning_sessions());
        let has_returned = window.with_pin > 0 && !are_lost(window);
        if installed_for < SETTLED_SECONDS || has_returned {
            return None;
        }
        let spans = [(window, Some(counted.time)), (total, None)];
        let (sessions, within) = spans.into_iter().find(|(sessions, _)| are_lost(*sessions))?;
        Some(Self { sessions, within })
    }
}

const fn are_lost(sessions: ReturningSessions) -> bool {
    let ReturningSessions { with_pin, without_pin, decided, .. } = sessions;
    decided >= MIN_DECIDED
        && without_pin >= MIN_WITHOUT_PIN
        && without_pin >= with_pin.saturating_mul(MIN_RATIO)
}

impl fmt::Display for LostCookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReturningSessions { with_pin, without_pin, .. } = self.sessions;
        let of = with_pin.saturating_add(without_pin);
        write!(
            f,
            "clients do not return the filter's cookies: {without_pin} of {of} requests with a session came without a pin"
        )?;
        match self.within {
            Some(time) => write!(f, " in {} s", time.as_secs()),
            None => f.write_str(" since the proxies started"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{ProxyMetrics, Traffic};

    const LATER: u64 = SETTLED_SECONDS;

    /// Requests with this many decisions by the weight, adopted sessions and pins.
    fn traffic([minted, adopted, pin]: [u64; 3]) -> Traffic {
        let line = |reason: &str, count: u64| {
            format!("canary_requests_total{{component=\"shop/shop\",tag=\"v1/stable/{reason}\"}} {count}\n")
        };
        let text = line("minted", minted) + &line("adopted", adopted) + &line("pin", pin);
        let pod = ("ingress".to_owned(), "gateway".to_owned());
        Traffic::of_release([(pod, &ProxyMetrics::parse(&text))], "shop/shop")
    }

    /// The finding about a window of ten seconds, and all before it.
    fn said(window: [u64; 3], before: [u64; 3]) -> Option<String> {
        let total = [0, 1, 2].map(|at| window[at] + before[at]);
        let time = Duration::from_secs(10);
        let counted = WindowTraffic { traffic: traffic(window), time, total: traffic(total) };
        LostCookies::of(&counted, LATER).map(|lost| lost.to_string())
    }

    const NONE: [u64; 3] = [0; 3];

    #[test]
    fn sessions_that_begin_and_come_back_without_a_pin_have_lost_their_cookies() {
        let text =
            "clients do not return the filter's cookies: 40 of 40 requests with a session came without a pin";
        assert_eq!(said([3, 40, 0], NONE), Some(format!("{text} in 10 s")));
        assert_eq!(said([3, 40, 0], [90, 5, 900]), Some(format!("{text} in 10 s")), "since a moment ago");
        assert_eq!(said(NONE, [3, 40, 0]), Some(format!("{text} since the proxies started")), "at rest");
    }

    #[test]
    fn where_pins_come_back_none_is_lost() {
        for (window, before) in [
            ([30, 0, 600], NONE),
            // Each session that is older than the filter is adopted once.
            ([5, 400, 600], NONE),
            // What was wrong is mended.
            ([1, 2, 3], [90, 4605, 0]),
        ] {
            assert_eq!(said(window, before), None, "{window:?} after {before:?}");
        }
    }

    #[test]
    fn nothing_is_said_on_too_little() {
        assert_eq!(said([0, 400, 0], NONE), None, "no session has begun: all may be older than the filter");
        assert_eq!(said([400, 0, 0], NONE), None, "clients that keep no cookie at all");
        assert_eq!(said([3, 9, 0], NONE), None, "few requests");
    }

    #[test]
    fn nothing_is_said_directly_after_an_installation() {
        let counted = WindowTraffic { traffic: traffic([9, 400, 0]), ..WindowTraffic::default() };
        assert_eq!(LostCookies::of(&counted, SETTLED_SECONDS - 1), None);
        assert!(LostCookies::of(&counted, SETTLED_SECONDS).is_some());
    }
}
