//! A `session.cookie` that does not say what a session of the application is: no response sets it, or something else sets it for
//! each user.
//!
//! Where no response sets the cookie, no session is pinned: each request is decided again by the user's id, so each weight moves users. Where
//! something else sets it before the first request, as a single sign-on of the domain does, each new user counts as one whose session is
//! older than the filter, and stays on stable while sessions are adopted.

use super::{Observation, WindowTraffic};
use crate::metrics::ReturningSessions;
use std::fmt;

/// The cookie by which the sessions of a release are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionCookie {
    /// Its name.
    pub name: String,
    /// Until when sessions without a pin count as older than the filter, in seconds since 1970; 0 if they do not.
    pub adopted_until_seconds: u64,
}

/// Seconds from the installation until counts say something: before, sessions come back that are older than it.
const SETTLED_SECONDS: u64 = 60;
/// As many requests of known users must have come without a session.
const MIN_WITHOUT_SESSION: u64 = 50;
/// Seconds from the installation until most of the sessions that are older than it have been seen.
const ADOPTED_SECONDS: u64 = 3600;
/// As many sessions must have been adopted.
const MIN_ADOPTED: u64 = 20;
/// So many times as many must have been adopted as began.
const MIN_RATIO: u64 = 10;

/// The reason for which the cookie is the wrong one.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongCookie<'o> {
    /// No request had a session.
    NeverSet {
        cookie: &'o str,
        /// The requests of users with an id or a key.
        requests: u64,
    },
    /// Hardly a session begins.
    SetForAll {
        cookie: &'o str,
        /// The requests with the cookie and without a pin.
        adopted: u64,
        /// The new users.
        decided: u64,
        /// Length of the window, in seconds.
        seconds: u64,
    },
}

impl<'o> WrongCookie<'o> {
    /// The finding of the counters, if any. `now` in seconds since 1970.
    pub fn observed(observation: &'o Observation, now: u64) -> Option<Self> {
        let counted = observation.traffic.as_ref().filter(|_| observation.counts_sessions)?;
        let cookie = observation.session_cookie.as_ref()?;
        Self::of(counted, cookie, observation.record.state.installed_at_seconds, now)
    }

    /// The same of counters alone. `installed_at` and `now` in seconds since 1970.
    pub fn of(
        counted: &WindowTraffic,
        cookie: &'o SessionCookie,
        installed_at: u64,
        now: u64,
    ) -> Option<Self> {
        let installed_for = now.saturating_sub(installed_at);
        if let Some(requests) = without_session(counted).filter(|_| installed_for >= SETTLED_SECONDS) {
            return Some(Self::NeverSet { cookie: &cookie.name, requests });
        }
        let ReturningSessions { without_pin: adopted, decided, .. } = counted.traffic.returning_sessions();
        let is_for_all = cookie.adopted_until_seconds > now
            && installed_for >= ADOPTED_SECONDS
            && adopted >= MIN_ADOPTED
            && adopted >= decided.saturating_mul(MIN_RATIO);
        let seconds = counted.time.as_secs();
        is_for_all.then_some(Self::SetForAll { cookie: &cookie.name, adopted, decided, seconds })
    }
}

/// The requests of known users, where none had a session: in the window or, where it has too few, since the proxies started.
fn without_session(counted: &WindowTraffic) -> Option<u64> {
    let (window, total) = (counted.traffic.returning_sessions(), counted.total.returning_sessions());
    let has_session = |sessions: ReturningSessions| sessions.with_pin > 0 || sessions.without_pin > 0;
    if has_session(window) {
        return None;
    }
    let says =
        |sessions: &ReturningSessions| !has_session(*sessions) && sessions.known >= MIN_WITHOUT_SESSION;
    [window, total].into_iter().find(says).map(|sessions| sessions.known)
}

impl fmt::Display for WrongCookie<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverSet { cookie, requests } => write!(
                f,
                "expected sessions with the cookie `{cookie}`, found none in {requests} requests of known users: nothing is pinned, and each \
                 weight moves users"
            ),
            Self::SetForAll { cookie, adopted, decided, seconds } => write!(
                f,
                "{adopted} requests had the cookie `{cookie}` and no pin in {seconds} s, and {decided} had neither: the former count as \
                 sessions older than the filter and stay on stable, whatever the weight"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::problems::tests::healthy;
    use super::*;
    use crate::metrics::{ProxyMetrics, Traffic};
    use std::time::Duration;

    const INSTALLED: u64 = 1_800_000_000;

    /// Requests by reason: minted, hash, adopted, pin.
    fn traffic([minted, hash, adopted, pin]: [u64; 4]) -> Traffic {
        let line = |reason: &str, count: u64| {
            format!("canary_requests_total{{component=\"shop/shop\",tag=\"v1/stable/{reason}\"}} {count}\n")
        };
        let text =
            line("minted", minted) + &line("hash", hash) + &line("adopted", adopted) + &line("pin", pin);
        let pod = ("ingress".to_owned(), "gateway".to_owned());
        Traffic::of_release([(pod, &ProxyMetrics::parse(&text))], "shop/shop")
    }

    /// The finding so many seconds after the installation, about a window and all before it.
    fn said(seconds: u64, window: [u64; 4], before: [u64; 4]) -> Option<&'static str> {
        let mut observation = healthy();
        observation.record.state.installed_at_seconds = INSTALLED;
        observation.session_cookie =
            Some(SessionCookie { name: "SID".to_owned(), adopted_until_seconds: INSTALLED + 86_400 });
        let total = [0, 1, 2, 3].map(|at| window[at] + before[at]);
        let time = Duration::from_secs(10);
        observation.traffic = Some(WindowTraffic { traffic: traffic(window), time, total: traffic(total) });
        match WrongCookie::observed(&observation, INSTALLED + seconds)? {
            WrongCookie::NeverSet { .. } => Some("never set"),
            WrongCookie::SetForAll { .. } => Some("set for all"),
        }
    }

    /// Event, seconds since the installation, the counters of the window and of before, and the finding.
    type Case = (&'static str, u64, [u64; 4], [u64; 4], Option<&'static str>);

    #[test]
    fn a_cookie_is_wrong_where_no_user_has_a_session_or_nearly_each_has_an_older_one() {
        const NONE: [u64; 4] = [0; 4];
        const HOUR: u64 = ADOPTED_SECONDS;
        let cases: [Case; 13] = [
            ("ids come back, and no session does", 60, [9, 414, 0, 0], NONE, Some("never set")),
            ("the same since the proxies started", 60, [1, 2, 0, 0], [9, 400, 0, 0], Some("never set")),
            ("since a moment ago", 60, [9, 414, 0, 0], [9, 9, 9, 900], Some("never set")),
            ("directly after the installation", 59, [9, 414, 0, 0], NONE, None),
            ("few requests", 60, [9, 49, 0, 0], NONE, None),
            ("clients that keep no cookie", 60, [900, 0, 0, 0], NONE, None),
            ("pages before the session begins", 60, [9, 414, 0, 3], NONE, None),
            ("sessions that come back", 60, [9, 414, 3, 0], NONE, None),
            ("each new user has the cookie", HOUR, [2, 0, 40, 300], NONE, Some("set for all")),
            ("in the first hour", HOUR - 1, [2, 0, 40, 300], NONE, None),
            ("as many begin", HOUR, [20, 0, 40, 300], NONE, None),
            ("few of them", HOUR, [0, 0, 19, 300], NONE, None),
            ("after the adoption", 86_400, [2, 0, 40, 300], NONE, None),
        ];
        for (what, seconds, window, before, expected) in cases {
            assert_eq!(said(seconds, window, before), expected, "{what}");
        }
    }
}
