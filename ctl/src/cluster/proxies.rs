//! What the proxies of a release run, by their own word: the gauge that their workers set, read through the API server.

use super::pods::is_ready;
use super::refusal::Attempt;
use super::runtimes::proxy_image;
use super::{Cluster, Error};
use crate::plan::{Proxies, Record, WasmRuntime};
use http::Request;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;
use tokio::task::JoinSet;

/// Every istio-proxy serves its metrics here.
const PORT: u16 = 15090;
/// The gauge of the generation that the workers run.
const GAUGE: &str = "canary_generation_active";
/// The parts of names that metrics have in the proxy too, where labels are still part of names: fewer lines travel. That of
/// the gauge, or that of the VMs of V8.
const FILTER: &str = "canary_generation%7Cruntime.v8.created";
/// A proxy answers from memory; what takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(3);

/// A proxy that serves a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The generation that it runs; `None` where it runs none, or does not say.
    pub generation: Option<u64>,
    /// V8 in it.
    pub wasm_runtime: WasmRuntime,
    /// Why it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Namespace and name of a proxy's pod.
pub(super) type PodName = (String, String);

impl Cluster {
    /// The proxies that serve a release and are ready, as they are at this moment.
    pub async fn proxies(&self, release: &str, record: &Record) -> Result<Vec<Proxy>, Error> {
        let mut ready = self.ready_proxies(record).await?;
        let pods = ready.keys().cloned().collect();
        let said = self.metrics_of(pods, FILTER).await?.into_iter().map(|((namespace, pod), text)| {
            let image = ready.remove(&(namespace.clone(), pod.clone())).flatten();
            let wasm_runtime = WasmRuntime::of(image.as_deref(), text.as_deref().ok());
            let (generation, fault) = match text {
                Ok(text) => (generation(&text, release), None),
                Err(fault) => (None, Some(fault.to_owned())),
            };
            Proxy { namespace, pod, generation, wasm_runtime, fault }
        });
        Ok(said.collect())
    }

    /// The ready proxies of a release, each with its image.
    async fn ready_proxies(&self, record: &Record) -> Result<BTreeMap<PodName, Option<String>>, Error> {
        let mut found = BTreeMap::new();
        for Proxies { namespace, labels } in &record.proxies {
            let ready = self.pods(namespace, labels).await?.into_iter().filter(is_ready);
            found.extend(ready.map(|pod| {
                let image = proxy_image(&pod);
                ((namespace.clone(), pod.metadata.name.unwrap_or_default()), image)
            }));
        }
        Ok(found)
    }

    /// The metrics of a release's ready proxies whose names hold `filter`; why it does not say them, of one that does not.
    pub(super) async fn metrics(
        &self,
        record: &Record,
        filter: &'static str,
    ) -> Result<BTreeMap<PodName, Result<String, &'static str>>, Error> {
        let pods = self.ready_proxies(record).await?.into_keys().collect();
        self.metrics_of(pods, filter).await
    }

    /// The same of these pods.
    pub(super) async fn metrics_of(
        &self,
        pods: BTreeSet<PodName>,
        filter: &'static str,
    ) -> Result<BTreeMap<PodName, Result<String, &'static str>>, Error> {
        let mut asked = JoinSet::new();
        for pod in pods {
            let client = self.client.clone();
            asked.spawn(async move { Ok((pod.clone(), metrics(client, &pod, filter).await?)) });
        }
        asked.join_all().await.into_iter().collect()
    }
}

/// A missing right is our failure; a proxy that does not answer is a fact about the proxy.
async fn metrics(
    client: kube::Client,
    (namespace, pod): &PodName,
    filter: &str,
) -> Result<Result<String, &'static str>, Error> {
    let path =
        format!("/api/v1/namespaces/{namespace}/pods/{pod}:{PORT}/proxy/stats/prometheus?filter={filter}");
    let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError);
    let answer = match request {
        Ok(request) => tokio::time::timeout(PATIENCE, client.request_text(request)).await,
        Err(error) => Ok(Err(error)),
    };
    match answer {
        Ok(Ok(text)) => Ok(Ok(text)),
        Ok(Err(kube::Error::Api(status))) if status.is_forbidden() => {
            let attempt = Attempt { verb: "get", resource: "pods/proxy", group: "", namespace, name: pod };
            Err(attempt.refused(kube::Error::Api(status)))
        }
        Ok(Err(_)) => Ok(Err("does not answer on port 15090")),
        Err(_) => Ok(Err("does not answer in time on port 15090")),
    }
}

/// The value of the gauge of one release, in Prometheus' text: `canary_generation_active{component="shop/shop"} 3`.
fn generation(text: &str, release: &str) -> Option<u64> {
    let label = format!("component=\"{release}\"");
    let of_release = |line: &&str| line.starts_with(GAUGE) && line.contains(&label);
    text.lines().find(of_release)?.rsplit_once(' ')?.1.parse().ok()
}

impl Proxy {
    /// Whether it runs this generation or a later one.
    pub fn runs(&self, generation: u64) -> bool {
        self.generation.is_some_and(|found| found >= generation)
    }

    /// What a person should look at where it does not run what it should.
    pub fn likely_cause(&self) -> Option<String> {
        let Self { namespace, pod, generation, fault, .. } = self;
        Some(match (fault, generation) {
            (Some(_), _) => format!("has pod `{pod}` in `{namespace}` an istio-proxy? look at its log"),
            (None, None) => format!(
                "the filter is not in pod `{pod}`, or could not be fetched: `kubectl -n {namespace} logs {pod} -c istio-proxy` says why"
            ),
            (None, Some(_)) => format!(
                "istiod may be away, or the proxy refused the configuration: `kubectl -n {namespace} logs {pod} -c istio-proxy`"
            ),
        })
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ", self.namespace, self.pod)?;
        match (&self.fault, self.generation) {
            (Some(fault), _) => f.write_str(fault),
            (None, Some(generation)) => write!(f, "runs generation {generation}"),
            (None, None) => f.write_str("does not run the release"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generation_of_a_release_is_not_that_of_another() {
        let text = "# TYPE canary_generation_active gauge\n\
                    canary_generation_active{component=\"shop/shop-b\"} 9\n\
                    canary_generation_active{component=\"shop/shop\"} 3\n";
        assert_eq!(generation(text, "shop/shop"), Some(3));
        assert_eq!(generation(text, "shop/sho"), None);
    }
}
