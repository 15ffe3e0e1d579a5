//! Calls of a Service to which no route of ours applies, and those that fail by the subsets that our routes name: gateways decide for
//! users, and these callers do not come by a gateway.
//!
//! ```text
//! hidden_subsets  rules by which callers do not know our subsets      rules    -> UnroutedCalls
//! service         the Service itself, and others of the same pods     Services -> UnroutedCalls
//! sidecar_scope   callers whose Sidecar leaves the Service out        Sidecars -> UnroutedCalls
//! ```
//!
//! A check fails where users get errors at once, or where a decision that the file asks for has no effect. Calls that may never come are
//! named: no object says who calls.

mod hidden_subsets;
mod service;
mod sidecar_scope;

pub use hidden_subsets::hidden_subsets;
pub use service::{PodsBehind, same_pods};

use super::{Alternative, CheckFailed, PodLabels, PreflightCheck};
use crate::destination_rule::HostRule;
use crate::object::Reference;
use crate::spec::{Release, Routes};
use serde::Serialize;
use serde_json::Value;

/// The possible callers of a Service, and the rules that apply to them.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    /// The writer of the routes.
    pub routes: Routes,
    /// The Services of the release's namespace.
    pub services: Vec<Value>,
    /// The `ServiceEntry`s that may be read: some are Services of its pods, or have the host of the Service.
    pub service_entries: Vec<Value>,
    /// The `WorkloadEntry`s of that namespace: a Service selects them as pods.
    pub workload_entries: Vec<Value>,
    /// The pods behind the Service of the release: of other versions than stable, if there are such.
    pub pods: PodsBehind,
    /// The rules for the Service, of all namespaces that may be read, ours as it would be.
    pub rules: Vec<HostRule>,
    /// Our rule; `None` where a rule of another provides the subsets.
    pub ours: Option<HostRule>,
    /// The `Sidecar`s of all namespaces that may be read.
    pub sidecars: Vec<Value>,
    /// The labels of the release's namespace.
    pub namespace_labels: PodLabels,
}

/// Calls of a Service that no route of ours covers, with the reason.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum UnroutedCalls {
    /// Callers go by a rule without our subsets: calls that our routes lead to a subset get 503.
    #[error(
        "expected callers in `{namespace}`{} to know the subsets of the Service, found that they go by {rule}{} alone: their calls \
         would get 503",
        with_labels(labels),
        others.iter().map(|other| format!(" and {other}")).collect::<Vec<_>>().concat()
    )]
    HiddenSubsets {
        /// The namespace of the callers.
        namespace: String,
        /// Which of its pods; none: all.
        labels: PodLabels,
        rule: Reference,
        /// The other rules that are merged with it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        others: Vec<Reference>,
        /// Whether the rule names the Service, and no wildcard.
        names_service: bool,
    },
    /// Another Service, or a `ServiceEntry`, selects the same pods, and leads to the same port.
    #[error("{service} selects the same pods: calls of it get any version")]
    OtherService { service: Reference },
    /// A Service of type `ExternalName` is another name of the Service.
    #[error(
        "{service} is another name of the Service: our routes do not have it, and calls of it may get any version"
    )]
    Alias { service: Reference },
    /// A workload or an endpoint behind the Service has no version: our subsets leave it out.
    #[error(
        "expected label `{label}` at every workload behind the Service, found {workload} without it: no route of ours leads there, and its \
         users lose their sessions"
    )]
    WithoutVersion {
        /// The `WorkloadEntry`, or the `ServiceEntry` with such an endpoint.
        workload: Reference,
        label: String,
    },
    /// A `ServiceEntry` of another namespace has the host of the Service: the subsets of ours have no pods there.
    #[error(
        "expected the host of the Service in no other object, found it in {entry}: calls of proxies that go by it reach its endpoints, or \
         get 503"
    )]
    HostOfOthers { entry: Reference },
    /// The Service has ports on the nodes, or addresses outside the cluster.
    #[error("{service} is open on each node, or by an external address: what comes there gets any version")]
    OnNodes {
        /// The Service of the release, or another one of the same pods.
        service: Reference,
    },
    /// The Service has no address of its own.
    #[error(
        "expected a cluster address of {service}, found `clusterIP: None`: callers inside the mesh choose a pod by DNS, and no route \
         applies to their calls"
    )]
    Headless { service: Reference },
    /// The port is no HTTP for Istio.
    #[error(
        "expected HTTP on port {port} of {service}, found `{found}`, which is {protocol} for Istio: no route applies to calls inside \
         the mesh"
    )]
    NotHttp {
        service: Reference,
        port: u16,
        /// Its name or `appProtocol`.
        found: String,
        protocol: String,
    },
    /// Callers cannot see the Service, so they call it past all routes.
    #[error(
        "expected the Service in the scope of callers in {}, found that {sidecar} leaves it out: no route applies to their calls",
        of_namespace(namespace.as_deref())
    )]
    OutOfScope {
        sidecar: Reference,
        /// The namespace of the callers; `None`: all that have no `Sidecar` of their own.
        namespace: Option<String>,
    },
    /// A waypoint takes the calls to the pods.
    #[error(
        "{service} has the waypoint `{waypoint}`, which applies no EnvoyFilter: {} can name a version, or get any",
        if *takes_ingress { "what gateways and ambient pods send" } else { "what ambient pods send" }
    )]
    Waypoint {
        /// The Service, or its namespace.
        service: Reference,
        /// The name of the waypoint.
        waypoint: String,
        /// Whether gateways send to it, too.
        takes_ingress: bool,
    },
}

/// All calls that no route of ours covers.
pub fn unrouted_calls(release: &Release, callers: &Callers) -> Vec<UnroutedCalls> {
    let mut found = hidden_subsets::of(release, callers);
    found.extend(service::of(release, callers));
    found.extend(sidecar_scope::of(release, callers));
    found
}

impl UnroutedCalls {
    /// The check that they fail; `None` where they are named alone.
    pub fn failure(&self, release: &Release, routes: Routes) -> Option<CheckFailed> {
        let decides_inside = !release.sidecars.is_empty();
        let check = match self {
            Self::HiddenSubsets { .. } => return self.hides_subsets(routes),
            // Where routes are external, their owner decides on which subset callers depend.
            Self::WithoutVersion { .. } if routes != Routes::External => PreflightCheck::UnroutedCalls,
            Self::HostOfOthers { entry } if is_caller(release, Some(&entry.namespace)) => {
                PreflightCheck::UnroutedCalls
            }
            Self::Headless { .. } if decides_inside => PreflightCheck::UnroutedCalls,
            // A decision is due for calls of the port of the release alone.
            Self::NotHttp { port, .. } if decides_inside && *port == release.service.port => {
                PreflightCheck::UnroutedCalls
            }
            Self::OutOfScope { namespace, .. }
                if decides_inside && is_caller(release, namespace.as_deref()) =>
            {
                PreflightCheck::UnroutedCalls
            }
            Self::Waypoint { takes_ingress: true, .. } if !release.gateways.is_empty() => {
                PreflightCheck::UnroutedCalls
            }
            _ => return None,
        };
        Some(self.fails(check))
    }

    /// The check that calls fail by a rule that names the Service. Where routes are external, their owner decides on which subset callers
    /// depend.
    pub fn hides_subsets(&self, routes: Routes) -> Option<CheckFailed> {
        let fails =
            matches!(self, Self::HiddenSubsets { names_service: true, .. }) && routes != Routes::External;
        fails.then(|| self.fails(PreflightCheck::HiddenSubsets))
    }

    fn fails(&self, check: PreflightCheck) -> CheckFailed {
        let alternative = Alternative::CoverCalls { calls: Box::new(self.clone()) };
        CheckFailed { check, message: self.to_string(), alternative }
    }
}

/// Whether sidecars of the release decide in this namespace.
fn is_caller(release: &Release, namespace: Option<&str>) -> bool {
    let is_here = |caller: &str| namespace.is_none_or(|namespace| namespace == caller);
    release.sidecars.iter().any(|caller| is_here(caller.namespace.as_str()))
}

/// Refuses the first of these calls that fails a check which is not skipped.
///
/// # Errors
///
/// If there is one.
pub fn check_calls(
    release: &Release,
    routes: Routes,
    calls: &[UnroutedCalls],
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    let failed = calls.iter().filter_map(|calls| calls.failure(release, routes));
    failed.into_iter().find(|failed| !skipped.contains(&failed.check)).map_or(Ok(()), Err)
}

fn with_labels(labels: &PodLabels) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("`{name}: {value}`")).collect();
    format!(" with {}", pairs.join(", "))
}

fn of_namespace(namespace: Option<&str>) -> String {
    namespace.map_or_else(
        || "all namespaces without a Sidecar of their own".to_owned(),
        |namespace| format!("`{namespace}`"),
    )
}

#[cfg(test)]
mod tests;
