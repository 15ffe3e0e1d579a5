//! Whether the proxies have the clusters of new subsets: a route to a cluster that a proxy does not have is a 503.
//!
//! Which clusters it has a proxy tells nobody outside its pod, but how many it was given it counts where its other metrics
//! are. So they are counted before the subsets are written, and again until each proxy was given as many more as there
//! are new subsets, and warms none of them any more.
//!
//! # Source
//! [Metrics that Istio's proxies always keep](https://istio.io/latest/docs/ops/configuration/telemetry/envoy-stats/);
//! [what they mean](https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats).

use crate::{Cluster, Error, WaitOptions};
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics};
use canary_release::record::Record;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const FILTER: MetricFilter = MetricFilter::of_proxy("cluster_manager");
const GIVEN: &str = "envoy_cluster_manager_cluster_added";
const WARMING: &str = "envoy_cluster_manager_warming_clusters";

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The count of each proxy; none if it did not respond.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clusters(BTreeMap<PodName, Option<Count>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    /// Since the proxy started.
    given: u64,
    /// Those that wait for their endpoints: no route finds them yet.
    warming: u64,
}

impl Cluster {
    /// The clusters that each ready proxy of a release was given.
    pub(crate) async fn clusters(&self, record: &Record) -> Result<Clusters, Error> {
        let reported = self.metrics_now(record, FILTER).await?.into_iter();
        Ok(Clusters(reported.map(|(pod, metrics)| (pod, metrics.ok().as_ref().and_then(count))).collect()))
    }

    /// Waits until every proxy was given so many clusters more than before. Fails with those that were not, in time; those that
    /// do not say it at the moment get time, if [`WriteOptions::unseen_proxies_wait`](crate::WriteOptions::unseen_proxies_wait) is set or a
    /// Prometheus is asked for the rest.
    pub(crate) async fn wait_for_clusters(
        &self,
        record: &Record,
        before: &Clusters,
        more: usize,
        waiting: &WaitOptions<'_>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let now = self.clusters(record).await?;
            let behind = before.behind(&now, more);
            let waited = begun.elapsed();
            let are_unseen = now.say_nothing(&behind);
            if behind.is_empty() || (are_unseen && self.is_cluster_wait_over(waited, waiting.timeout)) {
                return Ok(());
            }
            if waited >= waiting.timeout {
                return Err(Error::NoClusters { behind, waited });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Clusters {
    /// Whether none of these proxies says how many clusters it was given.
    fn say_nothing(&self, pods: &[PodName]) -> bool {
        pods.iter().all(|pod| self.0.get(pod).is_none_or(Option::is_none))
    }

    /// Whether no proxy is ready.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The proxies that were not given so many more. One that came or started again meanwhile was given everything at
    /// once; one that said nothing before cannot be compared.
    fn behind(&self, now: &Self, more: usize) -> Vec<PodName> {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let lacks = |pod: &PodName, now: Option<Count>| match (self.0.get(pod), now) {
            (_, None) => true,
            (Some(Some(before)), Some(now)) => {
                let has_all = now.given < before.given || now.given >= before.given.saturating_add(more);
                !has_all || now.warming > before.warming
            }
            (None | Some(None), Some(_)) => false,
        };
        now.0.iter().filter(|(pod, count)| lacks(pod, **count)).map(|(pod, _)| pod.clone()).collect()
    }
}

fn count(metrics: &ProxyMetrics) -> Option<Count> {
    Some(Count { given: metrics.count(GIVEN, &[])?, warming: metrics.count(WARMING, &[])? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(pod: &str, count: Option<(u64, u64)>) -> Clusters {
        let count = count.map(|(given, warming)| Count { given, warming });
        Clusters(BTreeMap::from([(("ingress".to_owned(), pod.to_owned()), count)]))
    }

    fn lags(before: &Clusters, now: &Clusters) -> bool {
        !before.behind(now, 2).is_empty()
    }

    #[test]
    fn a_proxy_lags_until_it_was_given_all_and_warms_none_of_them() {
        let before = one("a", Some((13, 0)));
        assert!(lags(&before, &one("a", Some((13, 0)))));
        assert!(lags(&before, &one("a", Some((14, 0)))));
        assert!(lags(&before, &one("a", Some((15, 1)))));
        assert!(lags(&before, &one("a", None)), "it says nothing any more");
        assert!(!lags(&before, &one("a", Some((15, 0)))));
    }

    #[test]
    fn a_proxy_that_came_or_started_again_was_given_everything_at_once() {
        assert!(!lags(&one("a", Some((13, 0))), &one("b", Some((9, 0)))));
        assert!(!lags(&one("a", Some((13, 0))), &one("a", Some((9, 0)))));
    }

    #[test]
    fn a_cluster_that_never_warms_for_others_is_not_waited_for() {
        assert!(!lags(&one("a", Some((13, 1))), &one("a", Some((15, 1)))));
    }

    #[test]
    fn clusters_are_counted_where_both_metrics_are_reported() {
        let added = "envoy_cluster_manager_cluster_added{} 15\n";
        let both = format!("{added}envoy_cluster_manager_warming_clusters{{}} 1\n");
        assert_eq!(count(&ProxyMetrics::parse(&both)), Some(Count { given: 15, warming: 1 }));
        assert_eq!(count(&ProxyMetrics::parse(added)), None);
    }
}
