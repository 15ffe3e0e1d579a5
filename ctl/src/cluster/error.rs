//! Why a cluster cannot be steered, and what to do about it.

use super::Proxy;
use crate::{config, manifest, plan};
use std::path::PathBuf;
use std::time::Duration;

/// Why a cluster cannot be steered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no usable kubeconfig.
    #[error("cannot use the kubeconfig{}", path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
    Kubeconfig {
        /// The file, where one was named.
        path: Option<PathBuf>,
        /// Why.
        source: kube::config::KubeconfigError,
    },
    /// The API server does not answer.
    #[error("the API server {address} does not answer")]
    Unreachable {
        /// Its address.
        address: String,
        /// Why.
        source: Box<kube::Error>,
    },
    /// The API server does not know who asks.
    #[error("the API server {address} does not know who we are")]
    Unauthorized {
        /// Its address.
        address: String,
    },
    /// A call was not answered, however often it was made.
    #[error("no answer to: {verb} {object}")]
    Unanswered {
        /// What was tried.
        verb: &'static str,
        /// The object.
        object: String,
        /// Why.
        source: Box<kube::Error>,
    },
    /// The API server has troubles of its own.
    #[error("the API server could not {verb} {object}: {code} {message}")]
    Unable {
        /// What was tried.
        verb: &'static str,
        /// The object.
        object: String,
        /// The HTTP status.
        code: u16,
        /// What it says.
        message: String,
    },
    /// A right is missing.
    #[error("not allowed to {verb} {resource} in namespace `{namespace}`")]
    Forbidden {
        /// `get`, `patch` …
        verb: &'static str,
        /// `envoyfilters`, `pods/proxy` …
        resource: String,
        /// Its API group; empty for the core.
        group: String,
        /// Where.
        namespace: String,
    },
    /// Fields have another owner.
    #[error("cannot write {object}: {}", conflicts.iter().map(|(field, owner)| format!("`{field}` belongs to `{owner}`")).collect::<Vec<_>>().join(", "))]
    Conflict {
        /// The object.
        object: String,
        /// Field and owner, each.
        conflicts: Vec<(String, String)>,
    },
    /// An object has changed since it was read.
    #[error("{object} has changed meanwhile")]
    Stale {
        /// The object.
        object: String,
    },
    /// Somebody else has changed the release since it was read.
    #[error("somebody else has changed `{release}` meanwhile{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    ConcurrentChange {
        /// The release.
        release: String,
        /// Who, and what.
        last: Option<String>,
    },
    /// The release is at another generation than the caller believes.
    #[error("expected generation {expected} of `{release}`, found {found}{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    Generation {
        /// The release.
        release: String,
        /// What the caller believes.
        expected: u64,
        /// What is there.
        found: u64,
        /// Who made it, and how.
        last: Option<String>,
    },
    /// The release is not there.
    #[error("release `{release}` is not on this cluster")]
    Unknown {
        /// The release.
        release: String,
    },
    /// The API server refuses an object.
    #[error("the API server refuses to {verb} {object}: {message}")]
    Refused {
        /// What was tried.
        verb: &'static str,
        /// The object.
        object: String,
        /// The HTTP status.
        code: u16,
        /// What it says.
        message: String,
    },
    /// Two namespaces have other keys.
    #[error(
        "the keys in namespaces `{first}` and `{second}` differ: pins of one gateway would not count at the other"
    )]
    KeysDiffer {
        /// One.
        first: String,
        /// Another.
        second: String,
    },
    /// The Secret went away while it was needed.
    #[error("expected keys in {namespaces}, found none")]
    LostKeys {
        /// Where they should be.
        namespaces: String,
    },
    /// A Secret of ours has another shape.
    #[error("expected keys in Secret {namespace}/{name}")]
    NoKeys {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: &'static str,
        /// Why it holds none.
        source: serde_json::Error,
    },
    /// The proxies did not run it in time.
    #[error("generation {generation} is not everywhere after {}: {}", crate::report::seconds(*waited), outdated(behind))]
    Late {
        /// What was waited for.
        generation: u64,
        /// The proxies that do not run it.
        behind: Vec<Proxy>,
        /// For how long.
        waited: Duration,
    },
    /// The proxies were not given the clusters of new subsets in time: no route may name them yet.
    #[error("the clusters of new subsets are not everywhere after {}: {} lacks them", crate::report::seconds(*waited), pods(behind))]
    NoClusters {
        /// Namespace and name of the proxies' pods.
        behind: Vec<(String, String)>,
        /// For how long.
        waited: Duration,
    },
    /// A new module does not run in every proxy; the old one is back.
    #[error("module {module} does not run everywhere after {}, and the old one is back: {}", crate::report::seconds(*waited), outdated(behind))]
    NoModule {
        /// Where it was to be got from.
        module: String,
        /// The proxies that did not run it.
        behind: Vec<Proxy>,
        /// For how long it was waited.
        waited: Duration,
    },
    /// Pods that cannot be restarted by their Deployment.
    #[error("expected pod {pod} to belong to a Deployment, found {owner}")]
    NoDeployment {
        /// Namespace and name.
        pod: String,
        /// What it belongs to.
        owner: String,
    },
    /// A Deployment does not come to the end of its rolling update.
    #[error("{deployment} is not rolled out after {}: {updated} of {replicas} pods are replaced{}", crate::report::seconds(*waited), failure.as_ref().map(|failure| format!(" ({failure})")).unwrap_or_default())]
    NotRolledOut {
        /// The Deployment.
        deployment: String,
        /// The pods of the new template.
        updated: u64,
        /// The pods that there should be.
        replicas: u64,
        /// Why Kubernetes has given it up.
        failure: Option<String>,
        /// For how long it was waited.
        waited: Duration,
    },
    /// Proxies have no V8 although they were restarted.
    #[error("V8 is not in every proxy after {}: {}", crate::report::seconds(*waited), list(proxies))]
    NotPrepared {
        /// Those that have none.
        proxies: Vec<plan::ProxyRuntime>,
        /// For how long it was waited.
        waited: Duration,
    },
    /// What others have would break.
    #[error("{message}")]
    Protected {
        /// What would go wrong.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// A preflight check failed.
    #[error(transparent)]
    Preflight(#[from] plan::CheckFailed),
    /// Somebody else is changing the same thing.
    #[error("lease {lease} is held by `{holder}`{}", since.as_ref().map(|since| format!(" since {}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))).unwrap_or_default())]
    Held {
        /// Namespace and name.
        lease: String,
        /// Who, and what they do.
        holder: String,
        /// Since when.
        since: Option<jiff::Timestamp>,
    },
    /// A Lease of ours was taken over, or could not be renewed.
    #[error("lost lease `{lease}`: somebody else may be writing now")]
    LostLease {
        /// Its name.
        lease: String,
    },
    /// As many writes as were allowed.
    #[error("stopped after {writes} writes, as asked")]
    Stopped {
        /// How many.
        writes: u32,
    },
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// There are no manifests.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// There is no configuration.
    #[error(transparent)]
    Config(#[from] config::Error),
}

fn outdated(behind: &[Proxy]) -> String {
    behind.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn list(proxies: &[plan::ProxyRuntime]) -> String {
    proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn pods(behind: &[(String, String)]) -> String {
    behind.iter().map(|(namespace, pod)| format!("{namespace}/{pod}")).collect::<Vec<_>>().join(", ")
}

impl Error {
    pub(super) fn unreachable(address: &str, source: kube::Error) -> Self {
        Self::Unreachable { address: address.to_owned(), source: Box::new(source) }
    }
}
