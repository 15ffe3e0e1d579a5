//! What was observed of a release and its cluster.

use super::{ClusterFinding, ControlPlane};
use crate::preflight::{CheckFailed, Exposure, NarrowSelector, UnroutedCalls, WasmRuntime};
use crate::rbac::Right;
use crate::routing::Gap;
use crate::spec::{ReleaseName, Routes};
use crate::status::{ProxyFault, ReadyPods};
use serde::Serialize;
use std::collections::BTreeSet;

/// The subject of a part of an examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Area {
    /// The Service and the pods behind it.
    Service,
    /// The Gateways, their pods and their hosts.
    Gateways,
    /// The rights of the user.
    Rights,
    /// The API server's response to the objects.
    Admission,
    /// The proxies: whether they respond, and what they run.
    Proxies,
    /// The signing keys.
    Keys,
    /// Other clusters of the mesh.
    Clusters,
    /// Those who call the Service, or its pods, and do not come by a gateway.
    Callers,
}

/// The observations of a release and its cluster. Parts that could not be read are `None`.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// Whether the release is on the cluster; `None` where a part of it could not be read.
    pub is_installed: Option<bool>,
    /// Whether `apply` would bring a Wasm filter to proxies.
    pub brings_wasm: bool,
    /// The Service.
    pub service: Option<ServiceExamination>,
    /// The exposure of the release to users.
    pub exposure: Option<Exposure>,
    /// The rights that the user lacks.
    pub missing_rights: Option<Vec<Right>>,
    /// The objects that the API server refuses.
    pub refusals: Option<Vec<Refusal>>,
    /// The other preflight checks of `apply` that fail.
    pub failed_checks: Vec<CheckFailed>,
    /// The writer of the routes.
    pub routes: Routes,
    /// Calls that no route of ours covers.
    pub unrouted: Vec<UnroutedCalls>,
    /// Routes and pods of the canary that users do not reach.
    pub unreached: Vec<ClusterFinding>,
    /// The objects that bypass our routes to a canary.
    pub gaps: Vec<Gap>,
    /// The running proxies that serve the release.
    pub proxies: Option<Vec<ProxyExamination>>,
    /// The istiods.
    pub control_plane: Option<ControlPlane>,
    /// Releases that the same proxies have, and whose record was deleted.
    pub without_record: Vec<ReleaseName>,
    /// The sentence about a session cookie that is the wrong one, as far as the proxies have counted.
    pub wrong_cookie: Option<String>,
    /// The signing keys.
    pub keys: Option<KeyState>,
    /// The other clusters that the control plane reads; none where that may not be seen.
    pub remote_clusters: BTreeSet<String>,
}

/// A port of a Service that leads to a port of pods by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTarget {
    /// The port of the Service.
    pub port: u16,
    /// The name of the pods' port.
    pub name: String,
}

impl NamedTarget {
    /// The sentence about a version whose pods do not have it.
    pub fn missing(&self, service: &str, version: &str) -> String {
        let Self { port, name } = self;
        format!(
            "expected a container of version `{version}` with port `{name}`, to which port {port} of Service `{service}` leads, found none: \
             requests of its users there get 503"
        )
    }
}

/// A Service, and the pods behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceExamination {
    /// Its ports; `None` if there is no such Service.
    pub ports: Option<Vec<u16>>,
    /// The pods of the stable version.
    pub stable: ReadyPods,
    /// The pods of the canary; `None` if the file names none.
    pub canary: Option<ReadyPods>,
    /// The named ports that stable has and the canary has not.
    pub missing_targets: Vec<NamedTarget>,
    /// Pods behind it without the version label.
    pub unlabelled: usize,
    /// The part of its selector that excludes the canary.
    pub narrow: Option<NarrowSelector>,
}

/// An object that the API server refuses in a dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The object, and why: a message of the API server.
    pub message: String,
}

/// A running proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyExamination {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The version of Istio in the tag of its image, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub istio: Option<String>,
    /// V8 in it.
    pub wasm_runtime: WasmRuntime,
    /// The fault for which it does not report metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ProxyFault>,
}

/// The Secrets of the signing keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Each namespace has the same keys.
    Equal,
    /// Some namespaces have none.
    Missing {
        /// These namespaces.
        namespaces: Vec<String>,
    },
}
