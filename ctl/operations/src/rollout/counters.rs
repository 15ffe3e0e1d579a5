//! What the proxies of a release have counted by user group, and the restarts of its pods, at one moment.

use crate::client::ServicePods;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::evidence::{PodRestarts, ProxyCounters, ReleaseCounters};
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use std::collections::BTreeMap;

/// The parts of the names of these metrics in the proxy.
const COUNTERS: &str = "canary_group_|canary_fuse";

/// The counters of a rollout, and how many proxies there are to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// When they were read.
    pub at: Timestamp,
    /// Those of the proxies that answered.
    pub counters: ProxyCounters,
    /// The ready proxies of the release.
    pub proxies: usize,
    /// Those in which the fuse of the canary is open.
    pub fused: usize,
    /// The ready pods of stable.
    pub stable_pods: usize,
    /// Those of the version that the rollout is about.
    pub canary_pods: usize,
    /// The restarts of the containers of both versions.
    pub restarts: PodRestarts,
}

impl Cluster {
    /// The counts of the ready proxies, of the version that a rollout is about and of stable, since they started, and how often
    /// the containers of both were restarted. A proxy that does not answer is none of them; one that runs an older module has
    /// counted nothing.
    ///
    /// # Errors
    ///
    /// Where pods or the Service may not be listed or read.
    pub async fn group_counters(
        &self,
        release: &ReleaseName,
        record: &Record,
        now: Timestamp,
    ) -> Result<GroupCounters, Error> {
        let filter = MetricFilter::of_release(&release.to_string(), COUNTERS);
        let service_pods = self.client.service_pods(release.namespace.as_str(), &record.service);
        let (reported, pods) = tokio::try_join!(self.metrics(record, filter), service_pods)?;
        let canary = record.rollout.as_ref().map_or("", |rollout| rollout.canary.as_str());
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let (name, proxies) = (release.to_string(), reported.len());
        let version = record.state.versions.iter().find(|version| version.name == canary);
        let is_fused = |metrics: &&ProxyMetrics| {
            let until = version.and_then(|version| metrics.release(&name).fused_until(version));
            until.is_some_and(|until| is_later(until, now))
        };
        let fused = reported.values().flatten().filter(is_fused).count();
        let counters = version_counters(&reported, release, [canary, stable]);
        let ready = |version| pods.of_version(&record.service, version).ready;
        let (stable_pods, canary_pods) = (ready(stable), ready(canary));
        let restarts = pod_restarts(record, &pods);
        Ok(GroupCounters { at: now, counters, proxies, fused, stable_pods, canary_pods, restarts })
    }
}

/// The counts of the proxies that answered, for two versions of a release: the canary and stable.
pub(super) fn version_counters(
    reported: &BTreeMap<PodName, Result<ProxyMetrics, String>>,
    release: &ReleaseName,
    [canary, stable]: [&str; 2],
) -> ProxyCounters {
    let (mut counters, release) = (ProxyCounters::default(), release.to_string());
    for (pod, metrics) in reported.iter().filter_map(|(pod, metrics)| Some((pod, metrics.as_ref().ok()?))) {
        let of = |version| ReleaseCounters::of(metrics, &release, version);
        counters.insert(pod.clone(), of(canary), of(stable));
    }
    counters
}

fn pod_restarts(record: &Record, pods: &ServicePods) -> PodRestarts {
    let of = |version: Option<&str>| {
        let pods = version.into_iter().flat_map(|version| pods.pods_of_version(&record.service, version));
        // A pod that ends has no users from now on.
        let pods = pods.filter(|pod| pod.metadata.deletion_timestamp.is_none());
        pods.filter_map(|pod| Some((pod.metadata.uid.clone()?, restarts(pod)))).collect()
    };
    let canary = record.rollout.as_ref().map(|rollout| rollout.canary.as_str());
    PodRestarts { canary: of(canary), stable: of(record.state.version_of(Role::Stable)) }
}

/// The restarts of a pod's containers.
fn restarts(pod: &Pod) -> u64 {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    statuses.filter_map(|status| u64::try_from(status.restart_count).ok()).sum()
}

fn is_later(seconds: u64, now: Timestamp) -> bool {
    i64::try_from(seconds).is_ok_and(|seconds| seconds > now.as_second())
}
