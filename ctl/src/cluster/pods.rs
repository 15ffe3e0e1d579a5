//! Which pods are there and which are ready: of a version behind a Service, and of any labels.

use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::plan::Service;
use k8s_openapi::api::core::v1::{Pod, Service as ServiceObject};
use kube::Api;
use kube::api::ListParams;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many pods of a version are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// Those that are.
    pub ready: usize,
    /// All that are there and not on their way out.
    pub all: usize,
}

impl Cluster {
    /// The pods of a version behind a Service. None where there is no such Service.
    pub async fn ready(&self, namespace: &str, service: &Service, version: &str) -> Result<Ready, Error> {
        let services: Api<ServiceObject> = Api::namespaced(self.client.clone(), namespace);
        let attempt =
            Attempt { verb: "get", resource: "services", group: "", namespace, name: &service.name };
        let found = services.get_opt(&service.name).await.map_err(|error| attempt.refused(error))?;
        let selector = found.and_then(|service| service.spec).and_then(|spec| spec.selector);
        let Some(mut labels) = selector else { return Ok(Ready::default()) };
        labels.insert(service.label.clone(), version.to_owned());
        let pods = self.pods(namespace, &labels).await?;
        Ok(Ready { ready: pods.iter().filter(|pod| is_ready(pod)).count(), all: pods.len() })
    }

    /// Pods by their labels, those on their way out left out.
    pub(super) async fn pods(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Pod>, Error> {
        let pods = self.pods_and_terminating(namespace, labels).await?;
        Ok(pods.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect())
    }

    /// Pods by their labels, also those on their way out.
    pub(super) async fn pods_and_terminating(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Pod>, Error> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let selector: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let attempt = Attempt { verb: "list", resource: "pods", group: "", namespace, name: "" };
        let found = api.list(&ListParams::default().labels(&selector.join(","))).await;
        Ok(found.map_err(|error| attempt.refused(error))?.items)
    }
}

/// Whether a pod takes requests.
pub(super) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.filter(|condition| condition.type_ == "Ready").any(|condition| condition.status == "True")
}

/// Whether a pod's requests go by the routes of the mesh.
pub(super) fn has_sidecar(pod: &Pod) -> bool {
    let spec = pod.spec.iter();
    // A native sidecar is an init container that stays.
    let mut containers =
        spec.flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
    containers.any(|container| container.name == "istio-proxy")
}

/// Whether it calls nobody any more.
pub(super) fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}
