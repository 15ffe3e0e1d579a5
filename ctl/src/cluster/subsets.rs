//! Whether the proxies have the clusters of new subsets: a route to a cluster that a proxy does not have is a 503.
//!
//! Which clusters it has a proxy tells nobody outside its pod, but how many it was given it counts where its other metrics
//! are. So they are counted before the subsets are written, and again until each proxy was given as many more as there
//! are new subsets, and warms none of them any more.
//!
//! # Source
//! [Metrics that Istio's proxies always keep](https://istio.io/latest/docs/ops/configuration/telemetry/envoy-stats/);
//! [what they mean](https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats).

use super::desired::Reconciliation;
use super::proxies::PodName;
use super::{Cluster, Error, WaitOptions};
use crate::manifest::Stage;
use crate::plan::Record;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const FILTER: &str = "cluster_manager";
const GIVEN: &str = "envoy_cluster_manager_cluster_added";
const WARMING: &str = "envoy_cluster_manager_warming_clusters";

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// What each proxy has counted; nothing where it did not say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clusters(BTreeMap<PodName, Option<Count>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    /// Since the proxy started.
    given: u64,
    /// Those that wait for their endpoints: no route finds them yet.
    warming: u64,
}

impl Cluster {
    /// How many clusters the ready proxies of a release were given.
    pub(super) async fn clusters(&self, record: &Record) -> Result<Clusters, Error> {
        let said = self.metrics(record, FILTER).await?.into_iter();
        Ok(Clusters(said.map(|(pod, text)| (pod, text.ok().and_then(|text| count(&text)))).collect()))
    }

    /// Waits until every proxy was given so many clusters more than before. Fails with those that were not, in time.
    pub(super) async fn wait_for_clusters(
        &self,
        record: &Record,
        before: &Clusters,
        more: usize,
        waiting: &WaitOptions<'_>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let behind = before.behind(&self.clusters(record).await?, more);
            if behind.is_empty() {
                return Ok(());
            }
            let waited = begun.elapsed();
            if waited >= waiting.patience {
                return Err(Error::NoClusters { behind, waited });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Reconciliation {
    /// How many subsets come: each is a cluster of its own in every proxy, or several where the Service has several ports.
    /// Where a rule of somebody else has a subset of the same name, its cluster is there already.
    pub(super) fn new_subsets(&self) -> usize {
        let rules = self.desired.iter().filter(|object| object.stage == Stage::Subsets);
        let coming = rules.map(|rule| {
            let there = self.observed.get(&rule.reference).map(names).unwrap_or_default();
            let coming = names(&rule.body);
            coming.difference(&there).filter(|name| !self.provided.contains(**name)).count()
        });
        coming.sum()
    }
}

impl Clusters {
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

fn names(rule: &Value) -> BTreeSet<&str> {
    let subsets = rule.pointer("/spec/subsets").and_then(Value::as_array);
    subsets.into_iter().flatten().filter_map(|subset| subset.get("name")?.as_str()).collect()
}

/// In Prometheus' text: `envoy_cluster_manager_cluster_added{} 13`.
fn count(text: &str) -> Option<Count> {
    let value = |name: &str| {
        let is_it = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        text.lines().find(is_it)?.rsplit_once(' ')?.1.parse().ok()
    };
    Some(Count { given: value(GIVEN)?, warming: value(WARMING)? })
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
    fn counts_are_read_and_their_like_are_not() {
        let text = "# TYPE envoy_cluster_manager_cluster_added counter\n\
                    envoy_cluster_manager_cluster_added{} 15\n\
                    envoy_cluster_manager_cluster_updated_via_merge{} 3\n\
                    envoy_cluster_manager_warming_clusters{} 1\n";
        assert_eq!(count(text), Some(Count { given: 15, warming: 1 }));
        assert_eq!(count("envoy_cluster_manager_cluster_added{} 15\n"), None);
    }
}
