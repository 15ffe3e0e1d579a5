//! What the proxies of a release report: their metrics, read through the API server.

use super::runtimes::proxy_image;
use crate::client::ApiRequest;
use crate::client::pods::is_ready;
use crate::{Cluster, Error};
use canary_release::metrics::{PodName, ProxyMetrics, Traffic};
use canary_release::preflight::WasmRuntime;
use canary_release::record::{Proxies, Record};
use canary_release::status::ProxyStatus;
use futures_util::AsyncReadExt as _;
use http::Request;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::task::JoinSet;

/// Every istio-proxy serves its metrics here.
const PORT: u16 = 15090;
/// The parts of names that metrics have in the proxy too, where labels are still part of names: fewer lines travel. That of
/// the gauge, or that of the VMs of V8.
const FILTER: &str = "canary_generation%7Cruntime.v8.created";
/// The same for the counter of requests.
const REQUESTS: &str = "canary_requests";
/// The same for the counters of requests and of responses.
const REQUESTS_AND_RESPONSES: &str = "canary_requests%7Ccanary_responses";
/// A proxy answers from memory; what takes longer is stuck.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The largest page of metrics, in bytes. A gateway with 1,600 releases has some hundred kilobytes of these names; who can start a
/// pod with a gateway's labels can send what they like.
const MAX_BYTES: u64 = 16 << 20;

impl Cluster {
    /// The proxies that serve a release and are ready, as they are at this moment.
    ///
    /// # Errors
    ///
    /// Where pods may not be listed or read. A proxy that does not respond is no error.
    pub async fn proxies(&self, release: &str, record: &Record) -> Result<Vec<ProxyStatus>, Error> {
        let mut ready = self.ready_proxies(record).await?;
        let pods = ready.keys().cloned().collect();
        let reported = self.metrics_of(pods, FILTER).await?.into_iter().map(|((namespace, pod), metrics)| {
            let image = ready.remove(&(namespace.clone(), pod.clone())).flatten();
            let wasm_runtime = WasmRuntime::of(image.as_deref(), metrics.as_ref().ok());
            let (active, fault) = match metrics {
                Ok(metrics) => (metrics.release(release).active, None),
                Err(fault) => (None, Some(fault.to_owned())),
            };
            ProxyStatus { namespace, pod, active, wasm_runtime, fault }
        });
        Ok(reported.collect())
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

    async fn counted(&self, release: &str, record: &Record, filter: &'static str) -> Result<Traffic, Error> {
        let reported = self.metrics(record, filter).await?;
        let responding =
            reported.iter().filter_map(|(pod, metrics)| Some((pod.clone(), metrics.as_ref().ok()?)));
        Ok(Traffic::of_release(responding, release))
    }

    /// The ready proxies of a release, each with its image.
    pub(super) async fn ready_proxies(
        &self,
        record: &Record,
    ) -> Result<BTreeMap<PodName, Option<String>>, Error> {
        let mut found = BTreeMap::new();
        for Proxies { namespace, labels } in &record.proxies {
            let ready = self.client.pods(namespace, labels).await?.into_iter().filter(is_ready);
            found.extend(ready.map(|pod| {
                let image = proxy_image(&pod);
                ((namespace.clone(), pod.metadata.name.unwrap_or_default()), image)
            }));
        }
        Ok(found)
    }

    /// The metrics of a release's ready proxies whose names contain `filter`, or why a proxy does not report them.
    pub(super) async fn metrics(
        &self,
        record: &Record,
        filter: &'static str,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, &'static str>>, Error> {
        let pods = self.ready_proxies(record).await?.into_keys().collect();
        self.metrics_of(pods, filter).await
    }

    /// The same of these pods.
    pub(super) async fn metrics_of(
        &self,
        pods: BTreeSet<PodName>,
        filter: &'static str,
    ) -> Result<BTreeMap<PodName, Result<ProxyMetrics, &'static str>>, Error> {
        let mut requests = JoinSet::new();
        for pod in pods {
            let client = self.client.client.clone();
            requests.spawn(async move { Ok((pod.clone(), metrics(client, &pod, filter).await?)) });
        }
        requests.join_all().await.into_iter().collect()
    }
}

/// A missing right is our failure; a proxy that does not answer is a fact about the proxy.
async fn metrics(
    client: kube::Client,
    (namespace, pod): &PodName,
    filter: &str,
) -> Result<Result<ProxyMetrics, &'static str>, Error> {
    let path =
        format!("/api/v1/namespaces/{namespace}/pods/{pod}:{PORT}/proxy/stats/prometheus?filter={filter}");
    let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError);
    let response = match request {
        Ok(request) => tokio::time::timeout(TIMEOUT, text(&client, request)).await,
        Err(error) => Ok(Err(error)),
    };
    match response {
        Ok(Ok(Some(text))) => Ok(Ok(ProxyMetrics::parse(&text))),
        Ok(Ok(None)) => Ok(Err("sends no metrics on port 15090")),
        Ok(Err(kube::Error::Api(status))) if status.is_forbidden() => {
            let request = ApiRequest { verb: "get", resource: "pods/proxy", group: "", namespace, name: pod };
            Err(request.error(kube::Error::Api(status)))
        }
        Ok(Err(_)) => Ok(Err("does not answer on port 15090")),
        Err(_) => Ok(Err("does not answer in time on port 15090")),
    }
}

/// The text of a response; `None` if it is too long or no UTF-8.
async fn text(client: &kube::Client, request: Request<Vec<u8>>) -> Result<Option<String>, kube::Error> {
    let mut text = String::new();
    let body = client.request_stream(request).await?;
    let read = body.take(MAX_BYTES + 1).read_to_string(&mut text).await;
    let is_whole = read.is_ok_and(|read| u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES));
    Ok(is_whole.then_some(text))
}
