//! What a proxy has counted by user group while a rollout runs.

use super::{GROUPS, ReleaseCounters};
use crate::metrics::ProxyMetrics;

const REQUESTS: &str = "canary_group_requests_total";
const RESPONSES: &str = "canary_group_responses_total";
const SERVER_ERRORS: &str = "canary_group_server_errors_total";
const CLIENT_ERRORS: &str = "canary_group_client_errors_total";
const SLOW_RESPONSES: &str = "canary_group_slow_responses_total";
const UNANSWERED: &str = "canary_group_unanswered_total";
const LOST_SESSIONS: &str = "canary_group_lost_sessions_total";
const EMPTIED_SESSIONS: &str = "canary_group_emptied_sessions_total";

impl ReleaseCounters {
    /// The counters of a version of a release (`<namespace>/<name>`), since the proxy started. A counter that is not there has
    /// counted nothing.
    pub fn of(metrics: &ProxyMetrics, release: &str, version: &str) -> Self {
        let mut counters = Self::default();
        for sample in metrics.samples() {
            let counter = match sample.name.as_str() {
                REQUESTS => &mut counters.requests,
                RESPONSES => &mut counters.responses,
                SERVER_ERRORS => &mut counters.server_errors,
                CLIENT_ERRORS => &mut counters.client_errors,
                SLOW_RESPONSES => &mut counters.slow_responses,
                UNANSWERED => &mut counters.unanswered,
                LOST_SESSIONS => &mut counters.lost_sessions,
                EMPTIED_SESSIONS => &mut counters.emptied_sessions,
                _ => continue,
            };
            let is_of_release = sample.labels.get("component").is_some_and(|of| of == release);
            let Some(tag) = sample.labels.get("tag").filter(|_| is_of_release) else { continue };
            let found =
                group(tag, version).and_then(|group| Some((counter.get_mut(group)?, sample.count()?)));
            if let Some((counter, count)) = found {
                *counter = count;
            }
        }
        counters
    }
}

fn group(tag: &str, version: &str) -> Option<usize> {
    let (of, group) = tag.rsplit_once('/')?;
    group.parse().ok().filter(|group| of == version && *group < GROUPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# TYPE canary_group_requests_total counter\n\
        canary_group_requests_total{component=\"shop/shop\",tag=\"v2/3\"} 7\n\
        canary_group_requests_total{component=\"shop/shop\",tag=\"v2/15\"} 2\n\
        canary_group_requests_total{component=\"shop/shop\",tag=\"v2/16\"} 99\n\
        canary_group_requests_total{component=\"shop/shop\",tag=\"v1/3\"} 99\n\
        canary_group_requests_total{component=\"shop/web\",tag=\"v2/3\"} 99\n\
        canary_group_responses_total{component=\"shop/shop\",tag=\"v2/3\"} 6\n\
        canary_group_server_errors_total{component=\"shop/shop\",tag=\"v2/3\"} 1\n\
        canary_group_unanswered_total{component=\"shop/shop\",tag=\"v2/3\"} 2\n\
        canary_group_lost_sessions_total{component=\"shop/shop\",tag=\"v2/3\"} 4\n\
        canary_group_emptied_sessions_total{component=\"shop/shop\",tag=\"v2/3\"} 3\n\
        canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/pin\"} 99\n";

    #[test]
    fn the_counters_of_a_version_are_read_by_group() {
        let found = ReleaseCounters::of(&ProxyMetrics::parse(TEXT), "shop/shop", "v2");
        assert_eq!((found.requests[3], found.requests[15]), (7, 2));
        assert_eq!(found.requests.iter().sum::<u64>(), 9, "no other version, release or group");
        assert_eq!((found.responses[3], found.server_errors[3], found.unanswered[3]), (6, 1, 2));
        assert_eq!((found.lost_sessions[3], found.emptied_sessions[3]), (4, 3));
        assert_eq!(
            ReleaseCounters::of(&ProxyMetrics::parse(""), "shop/shop", "v2"),
            ReleaseCounters::default()
        );
    }
}
