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
    /// Responses with a status of 500 to 599.
    pub server_errors: [u64; GROUPS],
    /// Responses with a status of 400 to 499.
    pub client_errors: [u64; GROUPS],
    /// Responses that took longer than the release allows.
    pub slow_responses: [u64; GROUPS],
}

/// The counters of both versions in all proxies that were reached, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyCounters(BTreeMap<PodName, BothCounters>);

/// Canary and stable, in this order.
type BothCounters = [ReleaseCounters; 2];

/// What was counted between two observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalCounts {
    /// Responses, and those with a status of 500 to 599.
    pub server_errors: VersionCounts,
    /// Requests that had at least one interval to be answered, and those that were not.
    pub unanswered: VersionCounts,
    /// Responses, and those with a status of 400 to 499.
    pub client_errors: VersionCounts,
    /// Responses, and those that took longer than the release allows.
    pub slow_responses: VersionCounts,
    /// Restarts of containers.
    pub restarts: RestartCounts,
    /// The proxies that took part.
    pub proxies: usize,
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
    /// What was counted between `earlier` and `later`. A request that was counted by `earlier` and has no response by
    /// `later` is unanswered; those that were so already by `earlier` are known from `before`, the observation before it.
    /// Without that one nothing is said of unanswered requests.
    pub fn between(before: Option<&ProxyCounters>, earlier: &ProxyCounters, later: &ProxyCounters) -> Self {
        let mut interval = Self::default();
        for (pod, last) in &later.0 {
            let Some(first) = earlier.0.get(pod).filter(|first| never_fell(first, last)) else { continue };
            interval.proxies += 1;
            interval.server_errors.add(&responses(first, last, |version| &version.server_errors));
            interval.client_errors.add(&responses(first, last, |version| &version.client_errors));
            interval.slow_responses.add(&responses(first, last, |version| &version.slow_responses));
            let zeroth = before.and_then(|before| before.0.get(pod));
            let Some(zeroth) = zeroth.filter(|zeroth| never_fell(zeroth, first)) else { continue };
            interval
                .unanswered
                .add(&both(|version| unanswered(version(zeroth), version(first), version(last))));
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

/// The requests between the first two of three observations, and how many more of them than before lack a response.
fn unanswered(zeroth: &ReleaseCounters, first: &ReleaseCounters, last: &ReleaseCounters) -> GroupCounts {
    let lacking = since(&since(&first.responses, &zeroth.requests), &since(&last.responses, &first.requests));
    GroupCounts::new(since(&zeroth.requests, &first.requests), lacking)
}

/// One group at a time, `later - earlier`; 0 where that is negative.
fn since(earlier: &[u64; GROUPS], later: &[u64; GROUPS]) -> [u64; GROUPS] {
    let at = |counters: &[u64; GROUPS], group: usize| counters.get(group).copied().unwrap_or_default();
    from_fn(|group| at(later, group).saturating_sub(at(earlier, group)))
}

/// The same of both versions.
fn both(of: impl Fn(fn(&BothCounters) -> &ReleaseCounters) -> GroupCounts) -> VersionCounts {
    VersionCounts { canary: of(|[canary, _]| canary), stable: of(|[_, stable]| stable) }
}

/// Whether a proxy has counted on, and not begun again.
fn never_fell(earlier: &BothCounters, later: &BothCounters) -> bool {
    let all = |counters: &BothCounters| {
        counters
            .iter()
            .flat_map(|version| {
                let ReleaseCounters { requests, responses, server_errors, client_errors, slow_responses } =
                    *version;
                [requests, responses, server_errors, client_errors, slow_responses]
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
        let interval = IntervalCounts::between(None, &earlier, &later);
        assert_eq!(interval.server_errors.canary.total(), ResponseCount { responses: 20, failed: 3 });
        assert_eq!(interval.server_errors.stable.total(), ResponseCount { responses: 200, failed: 0 });
        assert_eq!(interval.proxies, 1);
        assert_eq!(interval.unanswered, VersionCounts::default(), "there was no observation before");
    }

    #[test]
    fn each_kind_of_failure_has_its_own_counter() {
        let failed = |client_errors, slow_responses| ReleaseCounters {
            client_errors: [client_errors; GROUPS],
            slow_responses: [slow_responses; GROUPS],
            ..ReleaseCounters { responses: [10; GROUPS], ..ReleaseCounters::default() }
        };
        let earlier = observed(&[("a", ReleaseCounters::default(), ReleaseCounters::default())]);
        let later = observed(&[("a", failed(1, 2), failed(3, 4))]);
        let interval = IntervalCounts::between(None, &earlier, &later);
        let both = |counts: &VersionCounts| (counts.canary.total().failed, counts.stable.total().failed);
        assert_eq!(both(&interval.client_errors), (16, 48));
        assert_eq!(both(&interval.slow_responses), (32, 64));
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
        let interval = IntervalCounts::between(None, &earlier, &later);
        assert_eq!(interval.proxies, 1);
        assert_eq!(interval.server_errors.canary.total(), ResponseCount { responses: 1, failed: 0 });
        assert_eq!(interval.server_errors.stable.total(), ResponseCount { responses: 2, failed: 0 });
    }

    #[test]
    fn a_version_that_hangs_has_unanswered_requests_and_slow_responses_are_none() {
        let at =
            |requests, responses| observed(&[("a", counters(requests, responses, 0), counters(0, 0, 0))]);
        let unanswered = |observations: [&ProxyCounters; 3]| {
            let [before, earlier, later] = observations;
            IntervalCounts::between(Some(before), earlier, later).unanswered.canary.total()
        };
        // 10 requests an interval; from the second on none is answered.
        let [first, second, third, fourth] = [at(10, 8), at(20, 10), at(30, 10), at(40, 10)];
        assert_eq!(unanswered([&first, &second, &third]), ResponseCount { responses: 10, failed: 10 });
        assert_eq!(unanswered([&second, &third, &fourth]), ResponseCount { responses: 10, failed: 10 });
        // Each response is 5 requests late, as long as ever.
        let [first, second, third] = [at(10, 5), at(20, 15), at(30, 25)];
        assert_eq!(unanswered([&first, &second, &third]), ResponseCount { responses: 10, failed: 0 });
        // 15 late, which is more than an interval.
        let [first, second, third] = [at(20, 5), at(30, 15), at(40, 25)];
        assert_eq!(unanswered([&first, &second, &third]), ResponseCount { responses: 10, failed: 0 });
        // The requests that lack a response are those of the interval before: 20 of 20, and 10 later.
        let [first, second, third] = [at(10, 10), at(30, 10), at(40, 10)];
        assert_eq!(unanswered([&first, &second, &third]), ResponseCount { responses: 20, failed: 20 });
        // The proxy was restarted after the first observation, and has had more requests since than before.
        let restarted = observed(&[("a", counters(10, 10, 5), counters(0, 0, 0))]);
        assert_eq!(unanswered([&restarted, &at(20, 10), &at(30, 10)]), ResponseCount::default());
    }
}
