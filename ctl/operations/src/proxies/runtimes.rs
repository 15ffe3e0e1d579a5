//! Whether the proxies of a release survive a Wasm filter that is installed while they run, by their own metrics and
//! their image.

use crate::{Cluster, Error};
use canary_release::metrics::{MetricFilter, PodName};
use canary_release::plan::{Plan, PlanNote};
use canary_release::preflight::{PreflightCheck, ProxyRuntime, WasmRuntime, check_wasm_runtime};
use canary_release::record::{Proxies, Record};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use std::collections::{BTreeMap, BTreeSet};

/// The part of the metric's name in the proxy, as a filter, so that fewer lines are sent.
const FILTER: MetricFilter = MetricFilter::of_proxy("runtime.v8.created");
/// Istio's name for the container of a proxy, in sidecars and in gateways.
const CONTAINER: &str = "istio-proxy";

impl Cluster {
    /// The proxies of these pods whose Envoy runs: ready or not, and also while they terminate.
    ///
    /// # Errors
    ///
    /// Where pods may not be listed or asked. A proxy that does not answer is no error.
    pub async fn wasm_runtimes(&self, proxies: &[Proxies]) -> Result<Vec<ProxyRuntime>, Error> {
        let mut images: BTreeMap<PodName, Option<String>> = BTreeMap::new();
        for Proxies { namespace, labels } in proxies {
            let pods = self.client.pods_and_terminating(namespace, labels).await?;
            let running = pods.into_iter().filter(envoy_runs).collect();
            // No Wasm filter comes to a pod without an Envoy, nor to a waypoint.
            let planes = self.client.data_planes(namespace, running).await.into_iter();
            let envoys = planes.filter(|(_, plane)| plane.takes_filters());
            images.extend(envoys.map(|(pod, _)| {
                let image = proxy_image(&pod);
                ((namespace.clone(), pod.metadata.name.unwrap_or_default()), image)
            }));
        }
        let pods: BTreeSet<PodName> = images.keys().cloned().collect();
        let mut found = Vec::new();
        for ((namespace, pod), metrics) in self.metrics_of(pods, FILTER).await? {
            let image = images.remove(&(namespace.clone(), pod.clone())).flatten();
            let runtime = WasmRuntime::of(image.as_deref(), metrics.as_ref().ok());
            found.push(ProxyRuntime { namespace, pod, runtime });
        }
        Ok(found)
    }

    /// Refuses a plan that brings Wasm to running proxies which may not survive it.
    pub(crate) async fn check_runtimes(
        &self,
        plan: &Plan,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if !plan.brings_wasm() || skipped.contains(&PreflightCheck::NoWasmRuntime) {
            return Ok(());
        }
        Ok(check_wasm_runtime(&self.wasm_runtimes(&record.proxies).await?, skipped)?)
    }

    /// The check of [`check_runtimes`](Self::check_runtimes), as a note on a plan that is only printed.
    pub(crate) async fn runtime_note(&self, plan: &Plan, record: &Record) -> Result<Option<PlanNote>, Error> {
        if !plan.brings_wasm() {
            return Ok(None);
        }
        let checked = check_wasm_runtime(&self.wasm_runtimes(&record.proxies).await?, &[]);
        Ok(checked.err().map(PlanNote::CheckFails))
    }
}

/// The image of a pod's proxy.
pub(crate) fn proxy_image(pod: &Pod) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    // A native sidecar is an init container that stays.
    let mut containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    containers.find(|container| container.name == CONTAINER)?.image.clone()
}

/// Whether a pod's Envoy may be running. One that starts later starts with the objects that exist by then.
pub(crate) fn envoy_runs(pod: &Pod) -> bool {
    let Some(status) = &pod.status else { return false };
    let all =
        status.container_statuses.iter().flatten().chain(status.init_container_statuses.iter().flatten());
    let is_running =
        |status: &ContainerStatus| status.state.as_ref().is_some_and(|state| state.running.is_some());
    match all.into_iter().find(|status| status.name == CONTAINER) {
        Some(proxy) => is_running(proxy),
        None => status.phase.as_deref() == Some("Running"),
    }
}
