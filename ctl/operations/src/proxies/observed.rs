//! What the proxies of a release report: their metrics, read through the API server.

use crate::client::pods::is_ready;
use crate::metrics_reader::MetricsReader;
use crate::proxies::runtimes::proxy_image;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics, Traffic};
use canary_release::preflight::WasmRuntime;
use canary_release::record::{Proxies, Record};
use canary_release::status::{ProxyFault, ProxyStatus};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::JoinSet;

/// The parts of names of a release's gauges.
const GAUGES: &str = "canary_generation|canary_fuse";
/// The part of the name of the counter of a proxy's V8 machines.
const V8: &str = "runtime.v8.created";
/// The part of the name of the counter of requests.
const REQUESTS: &str = "canary_requests";
/// The same for the counters of requests and of responses.
const REQUESTS_AND_RESPONSES: &str = "canary_requests|canary_responses";

/// A ready pod whose proxy serves a release.
pub(crate) struct ReadyProxy {
    image: Option<String>,
    /// The fault for which it has no filter, whatever its metrics say.
    fault: Option<ProxyFault>,
}

/// The pods whose proxies have metrics of ours.
fn readable(ready: &BTreeMap<PodName, ReadyProxy>) -> BTreeSet<PodName> {
    ready.iter().filter(|(_, proxy)| proxy.fault.is_none()).map(|(name, _)| name.clone()).collect()
}

impl Cluster {
    /// The proxies that serve a release and are ready, as they are at this moment.
    ///
    /// # Errors
    ///
    /// Where pods may not be listed or read. A proxy that does not respond is no error.
    pub async fn proxies(&self, release: &str, record: &Record) -> Result<Vec<ProxyStatus>, Error> {
        let ready = self.ready_proxies(record).await?;
        let filter = MetricFilter::of_release(release, GAUGES).and_of_proxy(V8);
        let mut reported = self.metrics_of(readable(&ready), filter).await?;
        let canary = record.state.versions.iter().find(|version| version.role == Role::Canary);
        let status = |(name, proxy): (PodName, ReadyProxy)| {
            let metrics = reported.remove(&name);
            let page = metrics.as_ref().and_then(|metrics| metrics.as_ref().ok());
            let wasm_runtime = WasmRuntime::of(proxy.image.as_deref(), page);
            let metrics_of_release = page.map(|metrics| metrics.release(release)).unwrap_or_default();
            let fused_until_seconds = canary.and_then(|canary| metrics_of_release.fused_until(canary));
            let active = metrics_of_release.active;
            let fault = proxy.fault.or_else(|| metrics?.err().map(ProxyFault::Unread));
            let (namespace, pod) = name;
            ProxyStatus { namespace, pod, active, fused_until_seconds, wasm_runtime, fault }
        };
        Ok(ready.into_iter().map(status).collect())
    }

    /// The requests that the ready proxies of a release have counted since they started. A proxy that does not respond
    /// counts none.
    ///
    /// # Errors
    ///
    /// As [`proxies`](Self::proxies).
    pub async fn traffic(&self, release: &str, record: &Record) -> Result<Traffic, Error> {
        self.counted(release, record, REQUESTS).await
    }

    /// The same with the responses by status class: about twice as many lines travel.
    ///
    /// # Errors
    ///
    /// As [`proxies`](Self::proxies).
    pub async fn traffic_with_responses(&self, release: &str, record: &Record) -> Result<Traffic, Error> {
        self.counted(release, record, REQUESTS_AND_RESPONSES).await
    }

    async fn counted(&self, release: &str, record: &Record, names: &'static str) -> Result<Traffic, Error> {
        let reported = self.metrics(record, MetricFilter::of_release(release, names)).await?;
        let responding =
            reported.iter().filter_map(|(pod, metrics)| Some((pod.clone(), metrics.as_ref().ok()?)));
        Ok(Traffic::of_release(responding, release))
    }

    /// The ready proxies of a release.
    pub(crate) async fn ready_proxies(
        &self,
        record: &Record,
    ) -> Result<BTreeMap<PodName, ReadyProxy>, Error> {
        let mut found = BTreeMap::new();
        for Proxies { namespace, labels } in &record.proxies {
            let ready = self.client.pods(namespace, labels).await?.into_iter().filter(is_ready).collect();
            found.extend(self.client.data_planes(namespace, ready).await.into_iter().map(|(pod, plane)| {
                let proxy = ReadyProxy { image: proxy_image(&pod), fault: ProxyFault::of(plane) };
                ((namespace.clone(), pod.metadata.name.unwrap_or_default()), proxy)
            }));
        }
        Ok(found)
    }

    /// The metrics of a release's ready proxies that `filter` selects, or why a proxy does not report them.
    pub(crate) async fn metrics(
        &self,
        record: &Record,
        filter: MetricFilter,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, String>>, Error> {
        self.metrics_of(readable(&self.ready_proxies(record).await?), filter).await
    }

    /// The same as the proxies report them at this moment, by no Prometheus.
    pub(crate) async fn metrics_now(
        &self,
        record: &Record,
        filter: MetricFilter,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, String>>, Error> {
        let pods = readable(&self.ready_proxies(record).await?);
        self.metrics_by(&self.metrics_reader.without_scraped(), pods, filter).await
    }

    /// Those of these pods.
    pub(crate) async fn metrics_of(
        &self,
        pods: BTreeSet<PodName>,
        filter: MetricFilter,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, String>>, Error> {
        self.metrics_by(&self.metrics_reader, pods, filter).await
    }

    async fn metrics_by(
        &self,
        reader: &MetricsReader,
        pods: BTreeSet<PodName>,
        filter: MetricFilter,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, String>>, Error> {
        let mut requests = JoinSet::new();
        for pod in pods {
            let (reader, filter) = (reader.clone(), filter.clone());
            requests.spawn(async move {
                let metrics = reader.read(&pod, &filter).await;
                (pod, metrics)
            });
        }
        let reported = requests.join_all().await.into_iter();
        reported
            .map(|(pod, metrics)| Ok((pod, metrics.or_else(|error| self.unseen_fault(error).map(Err))?)))
            .collect()
    }
}
