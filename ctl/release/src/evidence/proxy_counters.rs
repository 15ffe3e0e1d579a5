//! What each proxy counted between two observations.
//!
//! A proxy takes part in an interval if it was observed at both ends and none of its counters fell. One that was
//! restarted or is silent drops out for both versions, so that it changes no comparison.

use super::{GROUPS, GroupCounts, RestartCounts, VersionCounts};
use crate::metrics::PodName;
use std::array::from_fn;
use std::collections::BTreeMap;

/// The counters of one version in one proxy, by user group, since the proxy started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReleaseCounters {
    /// Requests that were sent to the version.
    pub requests: [u64; GROUPS],
    /// Responses, whatever their status.
    pub responses: [u64; GROUPS],
    /// Responses with a status of 500 to 599, a gRPC status of a server's fault, or a body that was broken off.
    pub server_errors: [u64; GROUPS],
    /// Responses with a status of 400 to 499.
    pub client_errors: [u64; GROUPS],
    /// Responses that took longer than the release allows.
    pub slow_responses: [u64; GROUPS],
    /// Requests that had no response after a fixed time. A late response counts as one all the same.
    pub unanswered: [u64; GROUPS],
    /// Responses that took the session from a request: to a GET or HEAD request with a session cookie, which they delete or set to
    /// another value.
    pub lost_sessions: [u64; GROUPS],
    /// Those of them after which the session is shorter by a quarter or more, or gone.
    pub emptied_sessions: [u64; GROUPS],
}

/// The counters of both versions in all proxies that were reached, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyCounters(BTreeMap<PodName, BothCounters>);

/// Canary and stable, in this order.
type BothCounters = [ReleaseCounters; 2];

/// The counts between two observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalCounts {
    /// Responses, and those that failed, at once or after their headers: these may have come in an earlier interval.
    pub server_errors: VersionCounts,
    /// Requests, and those that the proxies have counted as unanswered, which came a few seconds before.
    pub unanswered: VersionCounts,
    /// Responses, and those with a status of 400 to 499.
    pub client_errors: VersionCounts,
    /// Responses, and those that took longer than the release allows.
    pub slow_responses: VersionCounts,
    /// Responses, and those that set the session to another value or delete it.
    pub lost_sessions: VersionCounts,
    /// Responses, and those that leave less of the session, or nothing: the same where each response sets another value.
    pub emptied_sessions: VersionCounts,
    /// Restarts of containers.
    pub restarts: RestartCounts,
    /// The pods of the canary that have ended, or whose containers have.
    pub canary_pods_ended: u64,
    /// The proxies that took part.
    pub proxies: usize,
    /// The time between both observations, in seconds; 0 where it is not known.
    pub seconds: u64,
}

impl ProxyCounters {
    /// Adds a proxy that was reached.
    pub fn insert(&mut self, pod: PodName, canary: ReleaseCounters, stable: ReleaseCounters) {
        self.0.insert(pod, [canary, stable]);
    }

    /// The number of proxies that were reached.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none was reached.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntervalCounts {
    /// The counts between `earlier` and `later`.
    pub fn between(earlier: &ProxyCounters, later: &ProxyCounters) -> Self {
        let mut interval = Self::default();
        for (pod, last) in &later.0 {
            let Some(first) = earlier.0.get(pod).filter(|first| never_fell(first, last)) else { continue };
            interval.proxies += 1;
            interval.server_errors.add(&both(|version| server_errors(version(first), version(last))));
            interval.client_errors.add(&responses(first, last, |version| &version.client_errors));
            interval.slow_responses.add(&responses(first, last, |version| &version.slow_responses));
            interval.lost_sessions.add(&responses(first, last, |version| &version.lost_sessions));
            interval.emptied_sessions.add(&responses(first, last, |version| &version.emptied_sessions));
            interval.unanswered.add(&both(|version| unanswered(version(first), version(last))));
        }
        interval
    }
}

/// The responses between two observations, and those of them that `failed` has counted.
fn responses(
    first: &BothCounters,
    last: &BothCounters,
    failed: fn(&ReleaseCounters) -> &[u64; GROUPS],
) -> VersionCounts {
    both(|version| {
        let (first, last) = (version(first), version(last));
        GroupCounts::new(since(&first.responses, &last.responses), since(failed(first), failed(last)))
    })
}

/// The responses between two observations, and those that failed in that time.
fn server_errors(first: &ReleaseCounters, last: &ReleaseCounters) -> GroupCounts {
    at_least_failed(
        since(&first.responses, &last.responses),
        since(&first.server_errors, &last.server_errors),
    )
}

/// The requests between two observations, and those that were counted as unanswered.
fn unanswered(first: &ReleaseCounters, last: &ReleaseCounters) -> GroupCounts {
    at_least_failed(since(&first.requests, &last.requests), since(&first.unanswered, &last.unanswered))
}

/// Counts of failures that come later than what they are a part of. Where there are more of them in an interval, they count as that,
/// too. Without them a version with few requests, whose interval is often empty, would lose more of its failures than the other.
fn at_least_failed(mut all: [u64; GROUPS], failed: [u64; GROUPS]) -> GroupCounts {
    for (all, failed) in all.iter_mut().zip(failed) {
        *all = (*all).max(failed);
    }
    GroupCounts::new(all, failed)
}

/// One group at a time, `later - earlier`; 0 where that is negative.
fn since(earlier: &[u64; GROUPS], later: &[u64; GROUPS]) -> [u64; GROUPS] {
    let at = |counters: &[u64; GROUPS], group: usize| counters.get(group).copied().unwrap_or_default();
    from_fn(|group| at(later, group).saturating_sub(at(earlier, group)))
}

fn both(of: impl Fn(fn(&BothCounters) -> &ReleaseCounters) -> GroupCounts) -> VersionCounts {
    VersionCounts { canary: of(|[canary, _]| canary), stable: of(|[_, stable]| stable) }
}

/// Whether a proxy has counted on, and not begun again.
fn never_fell(earlier: &BothCounters, later: &BothCounters) -> bool {
    let all = |counters: &BothCounters| {
        counters
            .iter()
            .flat_map(|version| {
                let ReleaseCounters { requests, responses, server_errors, client_errors, .. } = *version;
                let ReleaseCounters { slow_responses, unanswered, lost_sessions, emptied_sessions, .. } =
                    *version;
                let answered = [responses, server_errors, client_errors, slow_responses];
                [[requests, unanswered, lost_sessions, emptied_sessions], answered].concat()
            })
            .flatten()
            .collect::<Vec<u64>>()
    };
    all(earlier).into_iter().zip(all(later)).all(|(earlier, later)| later >= earlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ResponseCount;

    fn pod(name: &str) -> PodName {
        ("ingress".to_owned(), name.to_owned())
    }

    fn counters(requests: u64, responses: u64, server_errors: u64) -> ReleaseCounters {
        let in_group_4 = |count| from_fn(|group| if group == 4 { count } else { 0 });
        ReleaseCounters {
            requests: in_group_4(requests),
            responses: in_group_4(responses),
            server_errors: in_group_4(server_errors),
            ..ReleaseCounters::default()
        }
    }

    fn observed(proxies: &[(&str, ReleaseCounters, ReleaseCounters)]) -> ProxyCounters {
        let mut all = ProxyCounters::default();
        for (name, canary, stable) in proxies {
            all.insert(pod(name), *canary, *stable);
        }
        all
    }

    #[test]
    fn only_what_was_counted_in_between_counts() {
        let earlier = observed(&[("a", counters(10, 10, 1), counters(90, 90, 2))]);
        let later = observed(&[("a", counters(30, 30, 4), counters(290, 290, 2))]);
        let interval = IntervalCounts::between(&earlier, &later);
        assert_eq!(interval.server_errors.canary.total(), ResponseCount { responses: 20, failed: 3 });
        assert_eq!(interval.server_errors.stable.total(), ResponseCount { responses: 200, failed: 0 });
        assert_eq!(interval.proxies, 1);
        assert_eq!(interval.unanswered.canary.total(), ResponseCount { responses: 20, failed: 0 });
    }

    #[test]
    fn each_kind_of_failure_has_its_own_counter() {
        let failed = |[client_errors, slow, lost, emptied]: [u64; 4]| ReleaseCounters {
            client_errors: [client_errors; GROUPS],
            slow_responses: [slow; GROUPS],
            lost_sessions: [lost; GROUPS],
            emptied_sessions: [emptied; GROUPS],
            ..ReleaseCounters { responses: [10; GROUPS], ..ReleaseCounters::default() }
        };
        let earlier = observed(&[("a", ReleaseCounters::default(), ReleaseCounters::default())]);
        let later = observed(&[("a", failed([1, 2, 5, 4]), failed([3, 4, 7, 6]))]);
        let interval = IntervalCounts::between(&earlier, &later);
        let both = |counts: &VersionCounts| (counts.canary.total().failed, counts.stable.total().failed);
        assert_eq!(both(&interval.client_errors), (16, 48));
        assert_eq!(both(&interval.slow_responses), (32, 64));
        assert_eq!(both(&interval.lost_sessions), (80, 112));
        assert_eq!(both(&interval.emptied_sessions), (64, 96));
        assert_eq!(both(&interval.server_errors), (0, 0));
        assert_eq!(interval.slow_responses.canary.total().responses, 160);
    }

    #[test]
    fn a_proxy_whose_counter_fell_or_that_is_silent_drops_out_for_both_versions() {
        let earlier = observed(&[
            ("kept", counters(1, 1, 0), counters(1, 1, 0)),
            ("restarted", counters(50, 50, 0), counters(9, 9, 0)),
            ("silent", counters(5, 5, 0), counters(5, 5, 0)),
            ("stable fell", counters(0, 0, 0), counters(50, 50, 0)),
            ("requests fell", counters(50, 1, 0), counters(50, 1, 0)),
        ]);
        let later = observed(&[
            ("kept", counters(2, 2, 0), counters(3, 3, 0)),
            ("restarted", counters(4, 4, 4), counters(90, 90, 0)),
            ("new", counters(7, 7, 7), counters(7, 7, 7)),
            ("stable fell", counters(7, 7, 7), counters(9, 9, 9)),
            ("requests fell", counters(9, 9, 9), counters(9, 9, 9)),
        ]);
        let interval = IntervalCounts::between(&earlier, &later);
        assert_eq!(interval.proxies, 1);
        assert_eq!(interval.server_errors.canary.total(), ResponseCount { responses: 1, failed: 0 });
        assert_eq!(interval.server_errors.stable.total(), ResponseCount { responses: 2, failed: 0 });
    }

    #[test]
    fn a_response_that_failed_after_its_headers_counts_where_no_other_came() {
        let counted = |earlier: ReleaseCounters, later: ReleaseCounters| {
            let at = |canary| observed(&[("a", canary, counters(0, 0, 0))]);
            IntervalCounts::between(&at(earlier), &at(later)).server_errors.canary.total()
        };
        assert_eq!(
            counted(counters(9, 9, 0), counters(9, 9, 1)),
            ResponseCount { responses: 1, failed: 1 },
            "its headers came in the interval before"
        );
        assert_eq!(
            counted(counters(9, 9, 0), counters(19, 19, 3)),
            ResponseCount { responses: 10, failed: 3 }
        );
    }

    #[test]
    fn an_unanswered_request_counts_when_the_proxy_counts_it() {
        let at = |requests, unanswered: u64| {
            let events = from_fn(|group| if group == 4 { unanswered } else { 0 });
            let canary = ReleaseCounters { unanswered: events, ..counters(requests, 0, 0) };
            observed(&[("a", canary, counters(0, 0, 0))])
        };
        let unanswered = |earlier: &ProxyCounters, later: &ProxyCounters| {
            IntervalCounts::between(earlier, later).unanswered.canary.total()
        };
        assert_eq!(unanswered(&at(10, 1), &at(30, 4)), ResponseCount { responses: 20, failed: 3 });
        // What has no response yet says nothing: no response was counted at all.
        assert_eq!(unanswered(&at(10, 0), &at(30, 0)), ResponseCount { responses: 20, failed: 0 });
        // The request came in the interval before, and none since.
        assert_eq!(unanswered(&at(11, 0), &at(11, 1)), ResponseCount { responses: 1, failed: 1 });
        // The proxy was restarted.
        assert_eq!(unanswered(&at(10, 3), &at(20, 1)), ResponseCount::default());
    }
}
