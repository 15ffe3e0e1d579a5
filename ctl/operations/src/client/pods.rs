//! The existing and the ready pods: of a version behind a Service, and of any labels.

use super::{ApiClient, ApiRequest};
use crate::Error;
use assignment::contract::Role;
use canary_release::data_plane::{DataPlane, PodDescription};
use canary_release::doctor::{NamedTarget, ServiceExamination};
use canary_release::preflight::{NarrowSelector, PodsBehind};
use canary_release::record::{Record, ServiceRef};
use canary_release::spec::Release;
use canary_release::status::ReadyPods;
use k8s_openapi::api::core::v1::{
    ContainerPort, Namespace, Pod, Service as ServiceObject, ServicePort, ServiceSpec,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::Api;
use kube::api::ListParams;
use std::collections::{BTreeMap, BTreeSet};

/// A Service, and the pods behind it: of all versions, without those that terminate.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServicePods {
    /// Its ports; `None` if there is no such Service.
    pub(crate) ports: Option<Vec<u16>>,
    /// The labels that it selects; none if it selects no pods.
    pub(crate) selector: BTreeMap<String, String>,
    /// The names of its target ports, if all have names: a pod without any of them gets no requests.
    pub(crate) target_names: BTreeSet<String>,
    /// Its ports that lead to a port of pods by its name.
    named_targets: Vec<NamedTarget>,
    pods: Vec<Pod>,
}

impl ServicePods {
    /// Those of a version.
    pub(crate) fn of_version(&self, service: &ServiceRef, version: &str) -> ReadyPods {
        ready_pods(self.pods_of_version(service, version), &self.target_names)
    }

    /// Whether a version has ready pods, and none has a port that the Service names.
    pub(crate) fn lacks_port(&self, service: &ServiceRef, version: &str) -> bool {
        let is_ready = ready_pods(self.pods_of_version(service, version), &BTreeSet::new()).ready > 0;
        is_ready && self.of_version(service, version).ready == 0
    }

    /// The named ports of the Service that another version has, and none of the ready pods of this one: its requests there get 503.
    pub(crate) fn missing_targets(
        &self,
        service: &ServiceRef,
        version: &str,
        other: &str,
    ) -> Vec<NamedTarget> {
        let has = |version: &str, target: &NamedTarget| {
            let mut ready = self.pods_of_version(service, version).filter(|pod| is_ready(pod));
            ready.any(|pod| container_ports(pod).any(|port| port.name.as_ref() == Some(&target.name)))
        };
        // Without any of them it has no ready pod, which is said.
        let is_ready_at_all = self.of_version(service, version).ready > 0;
        let missing = self.named_targets.iter().filter(|target| has(other, target) && !has(version, target));
        missing.filter(|_| is_ready_at_all).cloned().collect()
    }

    /// The part of the selector that excludes every pod of a version.
    pub(crate) fn narrow_selector(&self, service: &ServiceRef, version: &str) -> Option<NarrowSelector> {
        NarrowSelector::excluding(version, (&service.name, &service.label), &self.selector)
    }

    /// The examination of a release's Service, for `doctor`.
    pub(crate) fn examination(&self, release: &Release) -> ServiceExamination {
        let (service, canary) = (ServiceRef::of(release), release.versions.canary.as_ref());
        ServiceExamination {
            stable: self.of_version(&service, &release.versions.stable),
            canary: canary.map(|canary| self.of_version(&service, canary)),
            unlabelled: self.without_label(&service),
            narrow: canary.and_then(|canary| self.narrow_selector(&service, canary)),
            missing_targets: canary
                .map(|canary| self.missing_targets(&service, canary, &release.versions.stable))
                .unwrap_or_default(),
            ports: self.ports.clone(),
        }
    }

    /// The same, one by one.
    pub(crate) fn pods_of_version(&self, service: &ServiceRef, version: &str) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(move |pod| {
            let label = pod.metadata.labels.as_ref().and_then(|labels| labels.get(&service.label));
            label.is_some_and(|label| label == version)
        })
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &BTreeMap<String, String>> {
        self.pods.iter().filter_map(|pod| pod.metadata.labels.as_ref())
    }

    /// Those of other versions than stable; without such, all: the pods about whose version there is something to decide.
    pub(crate) fn contested(&self, label: &str, stable: &str) -> PodsBehind {
        contested(&self.pods, label, stable)
    }

    /// Whether all of them have a sidecar.
    pub(crate) fn have_sidecars(&self) -> bool {
        self.pods.iter().all(has_sidecar)
    }

    /// The number of pods without a version label.
    pub(crate) fn without_label(&self, service: &ServiceRef) -> usize {
        let has_label = |pod: &&Pod| {
            pod.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(&service.label))
        };
        self.pods.iter().filter(|pod| !has_label(pod)).count()
    }

    /// The versions that have ready pods, without the stable one, and how many.
    pub(crate) fn ready_beside_stable(&self, record: &Record) -> BTreeMap<String, usize> {
        let stable = record.state.version_of(Role::Stable);
        let mut ready = BTreeMap::new();
        for pod in self.pods.iter().filter(|pod| is_ready(pod)) {
            let version = pod.metadata.labels.as_ref().and_then(|labels| labels.get(&record.service.label));
            if let Some(version) = version.filter(|version| stable != Some(version)) {
                *ready.entry(version.clone()).or_default() += 1;
            }
        }
        ready
    }
}

/// The pods of other versions than stable; without such, all.
pub(crate) fn contested(pods: &[Pod], label: &str, stable: &str) -> PodsBehind {
    let all = pods.iter().filter_map(|pod| pod.metadata.labels.as_ref());
    let is_other =
        |labels: &&BTreeMap<String, String>| labels.get(label).is_some_and(|version| version != stable);
    let others: Vec<_> = all.clone().filter(is_other).cloned().collect();
    let mut ports: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    for port in pods.iter().flat_map(container_ports) {
        if let (Some(name), Ok(number)) = (&port.name, u16::try_from(port.container_port)) {
            ports.entry(name.clone()).or_default().insert(number);
        }
    }
    PodsBehind { labels: if others.is_empty() { all.cloned().collect() } else { others }, ports }
}

/// The ports of all containers of a pod. A native sidecar is an init container, and can have some too.
fn container_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    let spec = pod.spec.iter();
    let containers =
        spec.flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
    containers.flat_map(|container| container.ports.iter().flatten())
}

fn ready_pods<'p>(pods: impl IntoIterator<Item = &'p Pod>, target_names: &BTreeSet<String>) -> ReadyPods {
    let has_target = |pod: &Pod| {
        let names = container_ports(pod).filter_map(|port| port.name.as_ref());
        target_names.is_empty() || names.into_iter().any(|name| target_names.contains(name))
    };
    let mut count = ReadyPods::default();
    for pod in pods {
        count.all += 1;
        count.ready += usize::from(is_ready(pod) && has_target(pod));
    }
    count
}

/// The names of a Service's target ports, if all have names. Kubernetes leaves a pod out of the `EndpointSlice`s of a port whose name no
/// container has.
fn target_names(service: &ServiceSpec) -> BTreeSet<String> {
    let name = |port: &ServicePort| match &port.target_port {
        Some(IntOrString::String(name)) => Some(name.clone()),
        _ => None,
    };
    let names: Option<BTreeSet<String>> = service.ports.iter().flatten().map(name).collect();
    names.unwrap_or_default()
}

impl ApiClient {
    /// The pods of a version behind a Service; none if the Service does not exist.
    pub(crate) async fn ready(
        &self,
        namespace: &str,
        service: &ServiceRef,
        version: &str,
    ) -> Result<ReadyPods, Error> {
        let found = self.service(namespace, &service.name).await?;
        let targets = found.as_ref().map(target_names).unwrap_or_default();
        let Some(mut labels) = found.and_then(|service| service.selector) else {
            return Ok(ReadyPods::default());
        };
        labels.insert(service.label.clone(), version.to_owned());
        Ok(ready_pods(&self.pods(namespace, &labels).await?, &targets))
    }

    /// A Service and its pods; none if it does not exist or selects none.
    pub(crate) async fn service_pods(
        &self,
        namespace: &str,
        service: &ServiceRef,
    ) -> Result<ServicePods, Error> {
        let Some(found) = self.service(namespace, &service.name).await? else {
            return Ok(ServicePods::default());
        };
        let ports = found.ports.iter().flatten().filter_map(|port| u16::try_from(port.port).ok()).collect();
        let target_names = target_names(&found);
        let named = found.ports.iter().flatten().filter_map(|port| {
            let Some(IntOrString::String(name)) = &port.target_port else { return None };
            Some(NamedTarget { port: u16::try_from(port.port).ok()?, name: name.clone() })
        });
        let named_targets = named.collect();
        let mut selector = found.selector;
        if let Some(labels) = selector.as_mut().filter(|_| service.per_version) {
            // Of every version: each has a Service of its own.
            labels.remove(&service.label);
        }
        let pods = match &selector {
            Some(labels) => self.pods(namespace, labels).await?,
            None => Vec::new(),
        };
        Ok(ServicePods {
            ports: Some(ports),
            selector: selector.unwrap_or_default(),
            target_names,
            named_targets,
            pods,
        })
    }

    /// The labels that a Service selects.
    ///
    /// # Errors
    ///
    /// If there is no such Service, or it may not be read.
    pub(crate) async fn service_selector(
        &self,
        namespace: &str,
        service: &str,
    ) -> Result<BTreeMap<String, String>, Error> {
        let found = self
            .service(namespace, service)
            .await?
            .ok_or_else(|| Error::NoService { name: service.to_owned(), namespace: namespace.to_owned() })?;
        Ok(found.selector.unwrap_or_default())
    }

    async fn service(&self, namespace: &str, service: &str) -> Result<Option<ServiceSpec>, Error> {
        let services: Api<ServiceObject> = Api::namespaced(self.client.clone(), namespace);
        let request = ApiRequest { verb: "get", resource: "services", group: "", namespace, name: service };
        let found = services.get_opt(service).await.map_err(|error| request.error(error))?;
        Ok(found.and_then(|service| service.spec))
    }

    /// Pods by their labels, without those that are terminating.
    pub(crate) async fn pods(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Pod>, Error> {
        let pods = self.pods_and_terminating(namespace, labels).await?;
        Ok(pods.into_iter().filter(|pod| !is_terminating(pod)).collect())
    }

    /// The labels of a namespace; none where they may not be read. They are asked for where pods alone do not say it.
    pub(crate) async fn namespace_labels(&self, name: &str) -> BTreeMap<String, String> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = namespaces.get_opt(name).await.ok().flatten();
        found.and_then(|namespace| namespace.metadata.labels).unwrap_or_default()
    }

    /// The data plane of each of these pods of a namespace.
    pub(crate) async fn data_planes(&self, namespace: &str, pods: Vec<Pod>) -> Vec<(Pod, DataPlane)> {
        let is_open = |pod: &Pod| data_plane(pod, &BTreeMap::new()) == DataPlane::Unmeshed;
        let labels = if pods.iter().any(is_open) {
            Box::pin(self.namespace_labels(namespace)).await
        } else {
            BTreeMap::new()
        };
        pods.into_iter()
            .map(|pod| (data_plane(&pod, &labels), pod))
            .map(|(plane, pod)| (pod, plane))
            .collect()
    }

    /// Pods by their labels, those that are terminating included.
    pub(crate) async fn pods_and_terminating(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Pod>, Error> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let request = ApiRequest { verb: "list", resource: "pods", group: "", namespace, name: "" };
        let found = api.list(&ListParams::default().labels(&selector(labels))).await;
        Ok(found.map_err(|error| request.error(error))?.items)
    }
}

/// Labels as the selector of a list.
pub(super) fn selector(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

/// Whether a pod is terminating.
fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Whether a pod takes requests.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.filter(|condition| condition.type_ == "Ready").any(|condition| condition.status == "True")
}

/// Whether a pod's requests go by the routes of the mesh.
pub(crate) fn has_sidecar(pod: &Pod) -> bool {
    let spec = pod.spec.iter();
    // A native sidecar is an init container that stays.
    let mut containers =
        spec.flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
    containers.any(|container| container.name == "istio-proxy")
}

/// The data plane of a pod, from the pod and the labels of its namespace.
pub(crate) fn data_plane(pod: &Pod, namespace: &BTreeMap<String, String>) -> DataPlane {
    let none = BTreeMap::new();
    let labels = pod.metadata.labels.as_ref().unwrap_or(&none);
    let annotations = pod.metadata.annotations.as_ref().unwrap_or(&none);
    DataPlane::of(PodDescription { has_proxy: has_sidecar(pod), labels, annotations }, namespace)
}

/// Whether it has ended, and so sends no more requests.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(metadata: &serde_json::Value, conditions: &serde_json::Value) -> Pod {
        serde_json::from_value(json!({"metadata": metadata, "status": {"conditions": conditions}})).unwrap()
    }

    #[test]
    fn a_pod_is_ready_by_its_condition_of_that_name_alone() {
        let scheduled = json!({"type": "PodScheduled", "status": "True"});
        let ready = |status: &str| json!([scheduled, {"type": "Ready", "status": status}]);
        assert!(is_ready(&pod(&json!({}), &ready("True"))), "Ready is True");
        assert!(!is_ready(&pod(&json!({}), &ready("False"))), "Ready is False, PodScheduled True");
        assert!(!is_ready(&pod(&json!({}), &json!([scheduled]))), "no condition Ready");
    }

    #[test]
    fn a_pod_with_a_deletion_timestamp_is_terminating() {
        let deleted = json!({"deletionTimestamp": "2026-11-23T00:00:00Z"});
        assert!(is_terminating(&pod(&deleted, &json!([]))), "deleted");
        assert!(!is_terminating(&pod(&json!({}), &json!([]))), "not deleted");
    }

    #[test]
    fn of_contested_pods_the_labels_are_those_of_other_versions_and_the_ports_those_of_all() {
        let pod = |version: &str, spec: serde_json::Value| -> Pod {
            let metadata = json!({"labels": {"version": version}});
            serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap()
        };
        let port = |name: &str, number: u16| json!([{"name": name, "containerPort": number}]);
        let pods = [
            pod("v1", json!({"containers": [{"name": "app", "ports": port("web", 8080)}]})),
            pod(
                "v2",
                json!({"containers": [{"name": "app", "ports": port("web", 8081)}],
                    "initContainers": [{"name": "agent", "ports": port("agent", 9000)}]}),
            ),
        ];
        let found = contested(&pods, "version", "v1");
        assert_eq!(found.labels, [[("version".to_owned(), "v2".to_owned())].into()]);
        let ports: [(String, BTreeSet<u16>); 2] =
            [("agent".to_owned(), [9000].into()), ("web".to_owned(), [8080, 8081].into())];
        assert_eq!(found.ports, ports.into());
        assert_eq!(contested(&pods, "version", "none").labels.len(), 2);
        assert_eq!(contested(&pods[..1], "version", "v1").labels.len(), 1, "no other version: all");
    }
}
