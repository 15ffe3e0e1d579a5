//! What is wrong with a release and its cluster. What a person can do about it is said at the edge, by kind.

use super::control_plane::{is_supported, is_too_old, oldest_supported};
use super::{Area, ControlPlane, Examination, Istiod, KeyState, ProxyExamination, ServiceExamination};
use crate::destination_rule::ROOT_NAMESPACE;
use crate::format::{counted, none_ready};
use crate::preflight::{
    Alternative, CheckFailed, PreflightCheck, ProxyRuntime, check_service_port, check_wasm_runtime,
    exposure_failures,
};
use crate::rbac::Right;
use crate::spec::{Module, Release, Routes};
use crate::status::{EmbeddedAtScale, ProxyFault, ReadyPods};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// An operation would be refused or fail, or users would be hurt.
    Error,
    /// Something works less well than it could, or will fail later.
    Warning,
    /// Good to know.
    Info,
}

/// Something that was found. Its text is one sentence, without a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterFinding {
    /// The Service does not exist.
    #[error("expected Service `{name}` in namespace `{namespace}`, found none")]
    NoService {
        /// The release's namespace.
        namespace: String,
        /// The name in the file.
        name: String,
    },
    /// A preflight check fails.
    #[error("{0}")]
    CheckFails(CheckFailed),
    /// Pods behind the Service have no version label: no route leads to them.
    #[error(
        "expected label `{label}` at all pods behind Service `{service}`, found {} without it: no route of ours leads to them",
        counted(*count, "pod", "pods")
    )]
    Unlabelled {
        /// The Service.
        service: String,
        /// The label.
        label: String,
        /// How many.
        count: usize,
    },
    /// The canary has no ready pod yet.
    #[error("version `{version}` has no ready pod yet")]
    CanaryNotStarted {
        /// The version.
        version: String,
    },
    /// Rights are missing.
    #[error("missing: {}", counted(missing.len(), "right", "rights"))]
    MissingRights {
        /// These rights.
        missing: Vec<Right>,
    },
    /// Mesh-wide rules cannot be seen.
    #[error(
        "not allowed to list DestinationRules in `{ROOT_NAMESPACE}`: settings of a mesh-wide rule for the Service are not taken over"
    )]
    RootNotSeen,
    /// The API server refuses an object.
    #[error("{message}")]
    Refused {
        /// The object, and why.
        message: String,
    },
    /// A proxy does not report metrics, so that no operation can wait for it.
    #[error("{}/{} {fault}", proxy.namespace, proxy.pod)]
    Silent {
        /// The proxy.
        proxy: ProxyExamination,
        /// Why.
        fault: ProxyFault,
    },
    /// The proxies run different versions of Istio.
    #[error("proxies run different versions of Istio: {}", versions.join(", "))]
    MixedVersions {
        /// These versions.
        versions: Vec<String>,
    },
    /// Istio is older than what is supported.
    #[error("{who} Istio {version}, expected {} or later", oldest_supported())]
    OldIstio {
        /// Who runs it: an istiod or a number of proxies, with the verb.
        who: String,
        /// The version.
        version: String,
    },
    /// Proxies that no istiod of the cluster supports.
    #[error("{} Istio {version}, and {}: an istiod supports its own minor version and the one before", count_of(*count), running(istiods))]
    UnsupportedProxies {
        /// How many proxies.
        count: usize,
        /// Their version.
        version: String,
        /// The versions of the istiods.
        istiods: Vec<String>,
    },
    /// Keys are missing beside an installed release.
    #[error("expected signing keys in {}, found none", namespaces.join(", "))]
    NoKeys {
        /// The namespaces.
        namespaces: Vec<String>,
    },
    /// The control plane reads other clusters, too: their gateways are not among the pods of this one.
    #[error(
        "istiod reads other clusters ({}): gateways there are not seen, and nothing waits for them",
        names.iter().cloned().collect::<Vec<_>>().join(", ")
    )]
    RemoteClusters {
        /// These clusters.
        names: BTreeSet<String>,
    },
    /// The module is embedded, and there are so many proxies that a registry is better.
    #[error("{0}")]
    EmbeddedAtScale(EmbeddedAtScale),
    /// The release is not on the cluster.
    #[error("the release is not on this cluster yet")]
    NotInstalled,
}

impl ClusterFinding {
    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::NoService { .. }
            | Self::CheckFails(_)
            | Self::MissingRights { .. }
            | Self::Refused { .. }
            | Self::Silent { .. } => Severity::Error,
            Self::Unlabelled { .. }
            | Self::RootNotSeen
            | Self::OldIstio { .. }
            | Self::UnsupportedProxies { .. }
            | Self::NoKeys { .. }
            | Self::RemoteClusters { .. } => Severity::Warning,
            Self::CanaryNotStarted { .. }
            | Self::MixedVersions { .. }
            | Self::EmbeddedAtScale(_)
            | Self::NotInstalled => Severity::Info,
        }
    }

    /// What it is about.
    pub const fn area(&self) -> Area {
        match self {
            Self::NoService { .. }
            | Self::Unlabelled { .. }
            | Self::CanaryNotStarted { .. }
            | Self::NotInstalled => Area::Service,
            Self::CheckFails(failed) => match failed.check {
                PreflightCheck::NoReadyPods | PreflightCheck::NoServicePort => Area::Service,
                PreflightCheck::NoWasmRuntime => Area::Proxies,
                _ => Area::Gateways,
            },
            Self::MissingRights { .. } | Self::RootNotSeen => Area::Rights,
            Self::Refused { .. } => Area::Admission,
            Self::Silent { .. }
            | Self::MixedVersions { .. }
            | Self::EmbeddedAtScale(_)
            | Self::OldIstio { .. }
            | Self::UnsupportedProxies { .. } => Area::Proxies,
            Self::NoKeys { .. } => Area::Keys,
            Self::RemoteClusters { .. } => Area::Clusters,
        }
    }
}

/// Everything that was found, the worst first.
pub fn findings(release: &Release, examination: &Examination) -> Vec<ClusterFinding> {
    let mut found = Vec::new();
    if let Some(service) = &examination.service {
        found.extend(of_service(release, service));
    }
    if let Some(exposure) = &examination.exposure {
        found.extend(exposure_failures(release, exposure).into_iter().map(ClusterFinding::CheckFails));
    }
    if let Some(missing) = &examination.missing_rights {
        found.extend(of_rights(missing));
    }
    for refusal in examination.refusals.iter().flatten() {
        found.push(ClusterFinding::Refused { message: refusal.message.clone() });
    }
    if let Some(proxies) = &examination.proxies {
        found.extend(of_proxies(proxies, examination.brings_wasm));
        found.extend(of_module(&release.delivery.module, proxies.len()));
    }
    found.extend(of_versions(examination));
    if let (Some(KeyState::Missing { namespaces }), true) = (&examination.keys, examination.is_installed) {
        found.push(ClusterFinding::NoKeys { namespaces: namespaces.clone() });
    }
    if !examination.remote_clusters.is_empty() {
        found.push(ClusterFinding::RemoteClusters { names: examination.remote_clusters.clone() });
    }
    if !examination.is_installed {
        found.push(ClusterFinding::NotInstalled);
    }
    found.sort_by_key(ClusterFinding::severity);
    found
}

fn of_service(release: &Release, service: &ServiceExamination) -> Vec<ClusterFinding> {
    let name = release.service.name.to_string();
    let Some(ports) = &service.ports else {
        return vec![ClusterFinding::NoService { namespace: release.name.namespace.to_string(), name }];
    };
    let mut found = Vec::new();
    if release.routes != Some(Routes::External) {
        found.extend(check_service_port(&release.service, ports, &[]).err().map(ClusterFinding::CheckFails));
    }
    let stable = &release.versions.stable;
    if service.stable.ready == 0 {
        let message =
            format!("version `{stable}` has {} behind Service `{name}`", none_ready(service.stable.all));
        let alternative = Alternative::StartPods { version: stable.clone() };
        found.push(ClusterFinding::CheckFails(CheckFailed {
            check: PreflightCheck::NoReadyPods,
            message,
            alternative,
        }));
    }
    if service.unlabelled > 0 {
        let (label, count) = (release.versions.label.clone(), service.unlabelled);
        found.push(ClusterFinding::Unlabelled { service: name, label, count });
    }
    if let (Some(version), Some(ReadyPods { ready: 0, .. })) = (&release.versions.canary, service.canary) {
        found.push(ClusterFinding::CanaryNotStarted { version: version.clone() });
    }
    found
}

/// Without the right to see mesh-wide rules everything else works.
fn of_rights(missing: &[Right]) -> Vec<ClusterFinding> {
    let is_of_root =
        |right: &&Right| right.namespace == ROOT_NAMESPACE && right.resource == "destinationrules";
    let (root, missing): (Vec<&Right>, Vec<&Right>) = missing.iter().partition(is_of_root);
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push(ClusterFinding::MissingRights { missing: missing.into_iter().cloned().collect() });
    }
    if !root.is_empty() {
        found.push(ClusterFinding::RootNotSeen);
    }
    found
}

fn of_proxies(proxies: &[ProxyExamination], brings_wasm: bool) -> Vec<ClusterFinding> {
    let silent = |proxy: &ProxyExamination| {
        let fault = proxy.fault.clone()?;
        Some(ClusterFinding::Silent { proxy: proxy.clone(), fault })
    };
    let mut found: Vec<ClusterFinding> = proxies.iter().filter_map(silent).collect();
    let runtimes: Vec<ProxyRuntime> = proxies
        .iter()
        .map(|proxy| ProxyRuntime {
            namespace: proxy.namespace.clone(),
            pod: proxy.pod.clone(),
            runtime: proxy.wasm_runtime,
        })
        .collect();
    if brings_wasm {
        found.extend(check_wasm_runtime(&runtimes, &[]).err().map(ClusterFinding::CheckFails));
    }
    let versions: BTreeSet<&String> = proxies.iter().filter_map(|proxy| proxy.istio.as_ref()).collect();
    if versions.len() > 1 {
        found.push(ClusterFinding::MixedVersions { versions: versions.into_iter().cloned().collect() });
    }
    found
}

fn of_module(module: &Module, proxies: usize) -> Option<ClusterFinding> {
    let Module::Embedded(Some(module)) = module else { return None };
    EmbeddedAtScale::observed(Some(module.digest()), proxies).map(ClusterFinding::EmbeddedAtScale)
}

/// What istiods and proxies run, against what is supported.
fn of_versions(examination: &Examination) -> Vec<ClusterFinding> {
    let istiods: &[Istiod] = match &examination.control_plane {
        Some(ControlPlane::Istiods(istiods)) => istiods,
        _ => &[],
    };
    let old = |istiod: &Istiod| {
        let version = istiod.version.clone().filter(|version| is_too_old(version))?;
        Some(ClusterFinding::OldIstio { who: format!("istiod {} runs", istiod.pod), version })
    };
    let mut found: Vec<ClusterFinding> = istiods.iter().filter_map(old).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for version in examination.proxies.iter().flatten().filter_map(|proxy| proxy.istio.as_ref()) {
        *counts.entry(version).or_default() += 1;
    }
    for (version, count) in counts {
        let version = version.clone();
        if is_too_old(&version) {
            found.push(ClusterFinding::OldIstio { who: count_of(count), version: version.clone() });
        }
        if !is_supported(&version, istiods) {
            let istiods = istiods.iter().filter_map(|istiod| istiod.version.clone()).collect();
            found.push(ClusterFinding::UnsupportedProxies { count, version, istiods });
        }
    }
    found
}

fn count_of(proxies: usize) -> String {
    format!("{} {}", counted(proxies, "proxy", "proxies"), if proxies == 1 { "runs" } else { "run" })
}

fn running(istiods: &[String]) -> String {
    format!("istiod {}", istiods.join(", "))
}

#[cfg(test)]
#[path = "finding_tests.rs"]
mod tests;
