//! What may be wrong with a release and its cluster. What a person can do about it is said at the edge, by kind.

use super::control_plane::oldest_supported;
use super::{Area, ProxyExamination};
use crate::destination_rule::ROOT_NAMESPACE;
use crate::format::counted;
use crate::preflight::{CheckFailed, NarrowSelector, PreflightCheck, UnroutedCalls};
use crate::rbac::Right;
use crate::routing::Gap;
use crate::spec::ReleaseName;
use crate::status::{EmbeddedAtScale, ProxyFault};
use serde::Serialize;
use std::collections::BTreeSet;

/// The severity of a finding.
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
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
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
        service: String,
        label: String,
        /// Their number.
        count: usize,
    },
    /// A user key is a claim, and nothing verifies tokens at the proxies.
    #[error(
        "expected a RequestAuthentication for the proxies in namespace `{namespace}`, found none: `identifyBy` names a claim of a token, and \
         no request there has that key"
    )]
    UnverifiedTokens {
        /// The namespace of the proxies.
        namespace: String,
    },
    /// The canary lacks a named port of the Service that stable has.
    #[error("{message}")]
    MissingTarget { message: String },
    #[error("version `{version}` has no ready pod yet")]
    CanaryNotStarted { version: String },
    /// No pod of the canary can be behind the Service.
    #[error("{0}: no pod of the canary is behind it")]
    NarrowSelector(NarrowSelector),
    /// External routes name the canary, and do not lead to its pods.
    #[error("{message}")]
    UnroutedCanary {
        /// The routes, with the reasons.
        message: String,
    },
    #[error("missing: {}", counted(missing.len(), "right", "rights"))]
    MissingRights {
        /// These rights.
        missing: Vec<Right>,
    },
    /// Mesh-wide rules cannot be seen.
    #[error(
        "not allowed to list DestinationRules and Sidecars in `{ROOT_NAMESPACE}`: settings of a mesh-wide rule for the Service are not taken \
         over, and callers who do not see the Service are not found"
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
    Silent { proxy: ProxyExamination, fault: ProxyFault },
    #[error("proxies run different versions of Istio: {}", versions.join(", "))]
    MixedVersions {
        /// These versions.
        versions: Vec<String>,
    },
    /// Istio is older than what is supported.
    #[error("{who} Istio {version}, expected {} or later", oldest_supported())]
    OldIstio {
        /// The subject that runs it: an istiod or a number of proxies, with the verb.
        who: String,
        version: String,
    },
    /// Proxies that no istiod of the cluster supports.
    #[error("{} Istio {version}, and {}: an istiod supports its own minor version and the one before", count_of(*count), running(istiods))]
    UnsupportedProxies {
        /// The number of proxies.
        count: usize,
        version: String,
        /// The versions of the istiods.
        istiods: Vec<String>,
    },
    /// Keys are missing beside an installed release.
    #[error("expected signing keys in {}, found none", namespaces.join(", "))]
    NoKeys { namespaces: Vec<String> },
    /// The session cookie of the file is none of the application's, as far as the proxies have counted.
    #[error("{message}")]
    WrongCookie { message: String },
    /// The proxies have releases without a record.
    #[error(
        "expected a record of each release that the proxies have, found none of {}: its ConfigMap was deleted, or its namespace was",
        releases.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    WithoutRecord {
        /// These releases.
        releases: Vec<ReleaseName>,
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
    /// No route of ours covers calls of others, and `apply` does not refuse it.
    #[error("{0}")]
    UnroutedCalls(UnroutedCalls),
    /// An object leads past our routes, and `apply` does not refuse it.
    #[error("{gap}: {}", if *reaches_canary { "such requests reach pods of the canary, whatever the weight" } else { "such requests would get any version once the canary has ready pods" })]
    Bypass {
        /// The gap that leads there.
        gap: Gap,
        /// Whether a pod of the canary is ready.
        reaches_canary: bool,
    },
    /// The module is embedded, and there are so many proxies that a registry is better.
    #[error("{0}")]
    EmbeddedAtScale(EmbeddedAtScale),
    #[error("the release is not on this cluster yet")]
    NotInstalled,
}

impl ClusterFinding {
    /// The identifier by which scripts know it; of a preflight check that fails, the check's name.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::NoService { .. } => "no-service",
            Self::CheckFails(failed) => failed.check.name(),
            Self::Unlabelled { .. } => "unlabelled-pods",
            Self::MissingTarget { .. } => "missing-target-port",
            Self::UnverifiedTokens { .. } => "unverified-tokens",
            Self::CanaryNotStarted { .. } => "canary-not-started",
            Self::NarrowSelector(_) => "narrow-selector",
            Self::UnroutedCanary { .. } => "no-routes",
            Self::MissingRights { .. } => "missing-rights",
            Self::RootNotSeen => "root-not-seen",
            Self::Refused { .. } => "refused",
            Self::Silent { .. } => "silent-proxy",
            Self::MixedVersions { .. } => "mixed-versions",
            Self::OldIstio { .. } => "old-istio",
            Self::UnsupportedProxies { .. } => "unsupported-proxies",
            Self::NoKeys { .. } => "no-keys",
            Self::WrongCookie { .. } => "wrong-cookie",
            Self::WithoutRecord { .. } => "no-record",
            Self::RemoteClusters { .. } => "remote-clusters",
            Self::UnroutedCalls(_) => "unrouted-calls",
            Self::Bypass { .. } => "bypass",
            Self::EmbeddedAtScale(_) => "embedded-at-scale",
            Self::NotInstalled => "not-installed",
        }
    }

    /// The severity.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::NoService { .. }
            | Self::CheckFails(_)
            | Self::MissingRights { .. }
            | Self::Refused { .. }
            | Self::Bypass { reaches_canary: true, .. }
            | Self::Silent { .. } => Severity::Error,
            Self::Unlabelled { .. }
            | Self::NarrowSelector(_)
            | Self::UnroutedCanary { .. }
            | Self::MissingTarget { .. }
            | Self::UnverifiedTokens { .. }
            | Self::RootNotSeen
            | Self::OldIstio { .. }
            | Self::UnsupportedProxies { .. }
            | Self::NoKeys { .. }
            | Self::WithoutRecord { .. }
            | Self::WrongCookie { .. }
            | Self::UnroutedCalls(_)
            | Self::Bypass { .. }
            | Self::RemoteClusters { .. } => Severity::Warning,
            Self::CanaryNotStarted { .. }
            | Self::MixedVersions { .. }
            | Self::EmbeddedAtScale(_)
            | Self::NotInstalled => Severity::Info,
        }
    }

    /// The subject.
    pub const fn area(&self) -> Area {
        match self {
            Self::NoService { .. }
            | Self::Unlabelled { .. }
            | Self::NarrowSelector(_)
            | Self::UnroutedCanary { .. }
            | Self::MissingTarget { .. }
            | Self::CanaryNotStarted { .. }
            | Self::NotInstalled => Area::Service,
            Self::CheckFails(failed) => match failed.check {
                PreflightCheck::NoReadyPods | PreflightCheck::NoServicePort => Area::Service,
                PreflightCheck::NoWasmRuntime | PreflightCheck::UnseenProxies => Area::Proxies,
                PreflightCheck::HiddenSubsets
                | PreflightCheck::UnroutedCalls
                | PreflightCheck::RoutesBypassed => Area::Callers,
                PreflightCheck::Paused
                | PreflightCheck::MaxStep
                | PreflightCheck::NoUserKey
                | PreflightCheck::MovesUsers => Area::Admission,
                _ => Area::Gateways,
            },
            Self::UnverifiedTokens { .. } => Area::Gateways,
            Self::MissingRights { .. } | Self::RootNotSeen => Area::Rights,
            Self::Refused { .. } => Area::Admission,
            Self::Silent { .. }
            | Self::WithoutRecord { .. }
            | Self::WrongCookie { .. }
            | Self::MixedVersions { .. }
            | Self::EmbeddedAtScale(_)
            | Self::OldIstio { .. }
            | Self::UnsupportedProxies { .. } => Area::Proxies,
            Self::NoKeys { .. } => Area::Keys,
            Self::RemoteClusters { .. } => Area::Clusters,
            Self::UnroutedCalls(_) | Self::Bypass { .. } => Area::Callers,
        }
    }
}

pub(super) fn count_of(proxies: usize) -> String {
    format!("{} {}", counted(proxies, "proxy", "proxies"), if proxies == 1 { "runs" } else { "run" })
}

fn running(istiods: &[String]) -> String {
    format!("istiod {}", istiods.join(", "))
}
