//! Who is still on a version, as far as the proxies' counters can say.
//!
//! The filter counts requests by version, role and reason. A request by pin is one of a session that stays where it is;
//! how many sessions there are no proxy knows, because a session that rests sends nothing.

use super::release_metrics::OVERRIDE;
use super::{ProxyMetrics, ReleaseMetrics};
use serde::Serialize;
use std::collections::BTreeMap;

/// The reason of a session older than the filter.
const ADOPTED: &str = "adopted";
/// The reason of a user who is known by a key or a minted id.
const HASH: &str = "hash";
/// The reason of a session that has returned its pin.
const PIN: &str = "pin";

/// Namespace and name of a pod.
pub type PodName = (String, String);

/// The requests of a release that its proxies have counted since they started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The counters of each proxy that answered.
    proxies: BTreeMap<PodName, ProxyCounts>,
}

/// The counters of one proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ProxyCounts {
    requests: Counts,
    responses: Counts,
}

/// Requests by version and reason, or responses by version and status class. A version that changed its role is one version.
type Counts = BTreeMap<(String, String), u64>;

/// The share of a version in all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionTraffic {
    /// Requests of sessions that stay there: by pin, or adopted.
    pub sessions: u64,
    /// All requests that it had, testers left out.
    pub requests: u64,
    /// The requests of all versions.
    pub of: u64,
    /// Requests that the weight gave it: of sessions that are new, and, with `stickiness: user`, of everybody.
    pub decided: u64,
    /// The requests that the weight gave to all versions.
    pub decided_of: u64,
}

/// The requests of sessions, and of users who have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturningSessions {
    /// Those with a pin.
    pub with_pin: u64,
    /// Those with a session cookie, and without a pin and a minted id.
    pub without_pin: u64,
    /// Those that the weight decided. Where sessions are pinned, they had no session.
    pub decided: u64,
    /// Those of them that had a key or a minted id: of users who have come before, or whom the application knows.
    pub known: u64,
}

impl Traffic {
    /// The requests of a release, named `<namespace>/<name>`, by what each proxy reports.
    pub fn of_release<'m>(
        proxies: impl IntoIterator<Item = (PodName, &'m ProxyMetrics)>,
        release: &str,
    ) -> Self {
        let counts =
            |(pod, metrics): (PodName, &ProxyMetrics)| (pod, ProxyCounts::of(&metrics.release(release)));
        Self { proxies: proxies.into_iter().map(counts).collect() }
    }

    /// Whether no proxy has reported anything.
    pub fn is_empty(&self) -> bool {
        self.proxies.is_empty()
    }

    /// The counts since an earlier observation, of the proxies that responded both times. One that was started again
    /// meanwhile begins at nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let later = self.proxies.iter().filter_map(|(pod, counts)| {
            let before = earlier.proxies.get(pod)?;
            let requests = since(&counts.requests, &before.requests);
            let responses = since(&counts.responses, &before.responses);
            Some((pod.clone(), ProxyCounts { requests, responses }))
        });
        Self { proxies: later.collect() }
    }

    /// A version's part of it.
    pub fn of(&self, version: &str) -> VersionTraffic {
        let mut part = VersionTraffic::default();
        for (of, reason, count) in self.counts().filter(|(_, reason, _)| *reason != OVERRIDE) {
            let is_here = of == version;
            part.of += count;
            part.requests += if is_here { count } else { 0 };
            if is_decision(reason) {
                part.decided_of += count;
                part.decided += if is_here { count } else { 0 };
            }
            part.sessions += if is_here && is_session(reason) { count } else { 0 };
        }
        part
    }

    /// The responses of a version by status class (`2xx`, `5xx`, …), those to testers left out. None where only requests were
    /// read.
    pub fn responses_of(&self, version: &str) -> BTreeMap<String, u64> {
        let mut classes = BTreeMap::new();
        for ((of, class), count) in self.proxies.values().flat_map(|counts| &counts.responses) {
            if of == version {
                *classes.entry(class.clone()).or_default() += count;
            }
        }
        classes
    }

    /// The requests of testers.
    pub fn overridden(&self) -> u64 {
        self.by_reason(OVERRIDE)
    }

    /// The requests of sessions older than the filter, one for each session that kept its pin.
    pub fn adopted(&self) -> u64 {
        self.by_reason(ADOPTED)
    }

    /// The rate at which sessions return.
    pub fn returning_sessions(&self) -> ReturningSessions {
        let decided = self.counts().filter(|(_, reason, _)| is_decision(reason));
        ReturningSessions {
            with_pin: self.by_reason(PIN),
            without_pin: self.adopted(),
            decided: decided.map(|(_, _, count)| count).sum(),
            known: self.by_reason(HASH),
        }
    }

    fn by_reason(&self, wanted: &str) -> u64 {
        self.counts().filter(|(_, reason, _)| *reason == wanted).map(|(_, _, count)| count).sum()
    }

    fn counts(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let of_all = self.proxies.values().flat_map(|counts| &counts.requests);
        of_all.map(|((version, reason), count)| (version.as_str(), reason.as_str(), *count))
    }
}

/// A session that stays where it is.
fn is_session(reason: &str) -> bool {
    matches!(reason, PIN | ADOPTED)
}

/// A decision by the weight: of a session that is new, and, where nobody is pinned, of every request.
fn is_decision(reason: &str) -> bool {
    matches!(reason, HASH | "minted" | "fused")
}

impl ProxyCounts {
    fn of(release: &ReleaseMetrics) -> Self {
        let mut counts = Self::default();
        for ((version, _role, reason), count) in &release.requests {
            *counts.requests.entry((version.clone(), reason.clone())).or_default() += count;
        }
        for ((version, role, class), count) in &release.responses {
            if role != OVERRIDE {
                *counts.responses.entry((version.clone(), class.clone())).or_default() += count;
            }
        }
        counts
    }
}

fn since(later: &Counts, earlier: &Counts) -> Counts {
    let was = |key| earlier.get(key).copied().unwrap_or_default();
    later.iter().map(|(key, count)| (key.clone(), count.saturating_sub(was(key)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Traffic {
        let pod = ("ingress".to_owned(), "gateway".to_owned());
        Traffic::of_release([(pod, &ProxyMetrics::parse(text))], "shop/shop")
    }

    #[test]
    fn requests_by_pin_are_those_of_sessions_and_testers_do_not_count() {
        let traffic = seen(
            "# TYPE canary_requests_total counter\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v1/draining/pin\"} 3\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/hash\"} 4\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v2/stable/minted\"} 5\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/override\"} 100\n\
             canary_requests_total{component=\"shop/blog\",tag=\"v1/stable/pin\"} 100\n",
        );
        let v1 = VersionTraffic { sessions: 3, requests: 7, of: 12, decided: 4, decided_of: 9 };
        assert_eq!(traffic.of("v1"), v1);
        assert_eq!(traffic.of("v2"), VersionTraffic { sessions: 0, requests: 5, decided: 5, ..v1 });
        assert_eq!(traffic.overridden(), 100);
    }

    #[test]
    fn an_adopted_session_is_one_that_stays() {
        let traffic = seen("canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/adopted\"} 6\n");
        assert_eq!(traffic.adopted(), 6);
        assert_eq!(
            traffic.of("v1"),
            VersionTraffic { sessions: 6, requests: 6, of: 6, ..VersionTraffic::default() }
        );
    }

    #[test]
    fn between_two_looks_only_what_came_counts_and_a_restarted_proxy_is_no_debt() {
        let line = |count| {
            seen(&format!(
                "canary_requests_total{{component=\"shop/shop\",tag=\"v1/draining/pin\"}} {count}\n"
            ))
        };
        assert_eq!(line(9).since(&line(4)).of("v1").sessions, 5);
        assert_eq!(line(1).since(&line(4)).of("v1").sessions, 0);
        assert_eq!(line(9).since(&Traffic::default()).of("v1").sessions, 0, "it did not answer before");
    }

    #[test]
    fn responses_count_by_version_and_class_and_those_to_testers_do_not() {
        let text = |ok: u64, failed: u64| {
            format!(
                "canary_responses_total{{component=\"shop/shop\",tag=\"v2/canary/2xx\"}} {ok}\n\
                 canary_responses_total{{component=\"shop/shop\",tag=\"v2/stable/2xx\"}} 1\n\
                 canary_responses_total{{component=\"shop/shop\",tag=\"v2/canary/5xx\"}} {failed}\n\
                 canary_responses_total{{component=\"shop/shop\",tag=\"v2/override/5xx\"}} 50\n\
                 canary_responses_total{{component=\"shop/shop\",tag=\"v1/stable/2xx\"}} 70\n"
            )
        };
        let traffic = seen(&text(9, 3)).since(&seen(&text(4, 1)));
        let expected = BTreeMap::from([("2xx".to_owned(), 5), ("5xx".to_owned(), 2)]);
        assert_eq!(traffic.responses_of("v2"), expected);
    }
}
