//! Why a cluster cannot be steered, as data: what a person can do about it is said at the edge.

mod category;
mod kubeconfig;
mod obstacle;
mod protected;
mod readiness;
mod request_failure;

pub use kubeconfig::{CredentialError, KubeconfigError};
pub(crate) use obstacle::ProxyError;
pub(crate) use request_failure::excerpt;

pub use obstacle::Obstacle;
pub use protected::Protected;
pub use readiness::ReadinessError;
pub use request_failure::RequestFailure;

use canary_release::metrics::ReleaseGeneration;
use canary_release::object::{ObjectError, Reference};
use canary_release::plan::LabelRefusal;
use canary_release::record::{Record, RecordFault, RecoverError};
use canary_release::rollout::VerbError;
use canary_release::spec::ReleaseName;
use canary_release::status::ProxyStatus;
use canary_release::train::TrainError;
use canary_release::{config, manifest, plan, preflight};
use http::StatusCode;
use std::path::PathBuf;
use std::time::Duration;
use strum::{IntoStaticStr, VariantNames};

/// The error of an operation.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Error {
    /// The kubeconfig is missing or invalid.
    #[error("cannot use the kubeconfig{}", path.as_ref().map(|path| format!(" `{}`", path.display())).unwrap_or_default())]
    Kubeconfig {
        /// The file, where one was named.
        path: Option<PathBuf>,
        source: KubeconfigError,
    },
    #[error("no credentials for the API server")]
    NoCredentials(#[from] Box<CredentialError>),
    #[error("the API server {address} {}", if source.is_foreign() { "did not answer as a Kubernetes API" } else { "is unreachable" })]
    Unreachable {
        /// Its address, and the context that leads to it.
        address: String,
        source: RequestFailure,
    },
    #[error("the API server {address} rejects the credentials")]
    Unauthorized { address: String },
    /// A request got no response, retries included.
    #[error("no response to: {verb} {object}")]
    Unanswered {
        /// The verb of the request: `get`, `patch`, …
        verb: &'static str,
        object: String,
        source: RequestFailure,
    },
    /// The API server responds with a server error, retries included.
    #[error("{}", unable(verb, object, *code, message))]
    Unable {
        /// The verb of the request: `get`, `patch`, …
        verb: &'static str,
        object: String,
        /// The HTTP status.
        code: u16,
        /// The message of the API server.
        message: String,
    },
    /// The release names a Service that does not exist.
    #[error("expected Service `{name}` in namespace `{namespace}`, found none")]
    NoService {
        /// The release's namespace.
        namespace: String,
        /// The name in the file.
        name: String,
    },
    /// A right is missing: 403 by RBAC.
    #[error("not allowed to {verb} {resource} in namespace `{namespace}`")]
    Forbidden {
        /// The verb of the request: `get`, `patch`, …
        verb: &'static str,
        /// The resource: `envoyfilters`, `pods/proxy`, …
        resource: String,
        /// Its API group; empty for the core group.
        group: String,
        namespace: String,
    },
    /// Fields belong to another field manager: 409 of a server-side apply.
    #[error("cannot write {object}: {}", conflicts.iter().map(|(field, owner)| format!("`{field}` belongs to `{owner}`")).collect::<Vec<_>>().join(", "))]
    Conflict {
        object: String,
        /// Each field with its manager.
        conflicts: Vec<(String, String)>,
    },
    /// An object was modified since it was read: 409.
    #[error("{object} was modified concurrently")]
    Stale { object: String },
    /// The record was modified since it was read.
    #[error("`{release}` was modified concurrently{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    ConcurrentChange {
        release: String,
        /// The last change in its history.
        last: Option<String>,
    },
    /// The release is at another generation than the caller expects.
    #[error("expected generation {expected} of `{release}`, found {found}{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    Generation {
        release: String,
        /// The generation that the caller expects.
        expected: u64,
        /// The generation of the record.
        found: u64,
        /// The last change in its history.
        last: Option<String>,
    },
    /// There is no record of the release.
    #[error("release `{release}` is not on the cluster at {server}")]
    Unknown {
        release: String,
        /// The address of the API server, and the context that leads to it.
        server: String,
        /// The releases that the user can see.
        known: Vec<String>,
    },
    /// The record on the cluster is not obeyed.
    #[error("the record of `{release}` is not obeyed: {fault}")]
    Untrusted { release: ReleaseName, fault: RecordFault },
    /// No record can be read back from the objects.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The API server rejects an object: admission, quota, validation.
    #[error("the API server refuses to {verb} {object}: {message}")]
    Refused {
        /// The verb of the request: `get`, `patch`, …
        verb: &'static str,
        object: String,
        /// The HTTP status.
        code: u16,
        /// The message of the API server.
        message: String,
    },
    /// The API server refuses an object after its record was written: rights, owners or admission have changed in between.
    #[error("the record of `{release}` is written ({last}), and its objects are not: {source}")]
    RecordAhead {
        release: String,
        /// The operation that the record names last.
        last: String,
        source: Box<Error>,
    },
    /// The signing keys of two namespaces differ.
    #[error(
        "the keys in namespaces `{first}` and `{second}` differ: pins of one gateway would not count at the other"
    )]
    KeysDiffer {
        /// The first namespace.
        first: String,
        /// The second namespace.
        second: String,
    },
    /// The Secret with the signing keys was deleted meanwhile.
    #[error("expected keys in {namespaces}, found none")]
    LostKeys {
        /// The namespaces that need them.
        namespaces: String,
    },
    /// The Secret holds no valid signing keys.
    #[error("expected keys in Secret {namespace}/{name}")]
    NoKeys {
        namespace: String,
        name: &'static str,
        /// The fault of the JSON.
        source: serde_json::Error,
    },
    /// Proxies did not run a generation in time.
    #[error("generation {} does not run in every proxy after {}: {}", desired.generation, canary_release::format::seconds(*waited), outdated(behind, *desired))]
    Late {
        desired: ReleaseGeneration,
        /// The proxies that do not run it.
        behind: Vec<ProxyStatus>,
        /// The time of the wait.
        waited: Duration,
    },
    /// Proxies did not get the clusters of new subsets in time: no route may name them yet.
    #[error("proxies lack the clusters of new subsets after {}: {}", canary_release::format::seconds(*waited), pods(behind))]
    NoClusters {
        /// Namespace and name of the proxies' pods.
        behind: Vec<(String, String)>,
        /// The time of the wait.
        waited: Duration,
    },
    /// Proxies did not run a new module in time; it was reverted.
    #[error("module {module} does not run in every proxy after {} and was reverted: {}", canary_release::format::seconds(*waited), outdated(behind, *desired))]
    NoModule {
        desired: ReleaseGeneration,
        /// The URL of the module.
        module: String,
        /// The proxies that did not run it.
        behind: Vec<ProxyStatus>,
        /// The time of the wait.
        waited: Duration,
    },
    /// A pod that belongs to no Deployment, and so cannot be restarted by one.
    #[error("expected pod {pod} to belong to a Deployment, found {owner}")]
    NoDeployment {
        /// Namespace and name.
        pod: String,
        /// The owner that was found.
        owner: String,
    },
    /// A Deployment did not finish its rolling update in time.
    #[error("{deployment} is not rolled out after {}: {updated} of {replicas} pods are replaced{}", canary_release::format::seconds(*waited), failure.as_ref().map(|failure| format!(" ({failure})")).unwrap_or_default())]
    NotRolledOut {
        deployment: String,
        /// The pods with the new template.
        updated: u64,
        /// The desired replicas.
        replicas: u64,
        /// The reason of its condition `Progressing`, if that is false.
        failure: Option<String>,
        /// The time of the wait.
        waited: Duration,
    },
    /// Proxies run without V8 after a restart.
    #[error("V8 does not run in every proxy after {}: {}", canary_release::format::seconds(*waited), list(proxies))]
    NotPrepared {
        /// Those proxies.
        proxies: Vec<preflight::ProxyRuntime>,
        /// The time of the wait.
        waited: Duration,
    },
    /// An object that an operator has named does not exist.
    #[error("expected {object}, found none")]
    Missing { object: Reference },
    /// Pods would be replaced, or a label of others overwritten.
    #[error(transparent)]
    Label(#[from] LabelRefusal),
    /// A controller of Kubernetes did not observe a change in time.
    #[error("the controller of {object} has not observed the change after {}", canary_release::format::seconds(*waited))]
    NotObserved {
        /// The Deployment or the `ReplicaSet`.
        object: String,
        /// The time of the wait.
        waited: Duration,
    },
    /// A change of a label failed, and what was written could not be taken back.
    #[error("{deployment} stays paused: {source}")]
    StaysPaused { deployment: String, source: Box<Error> },
    /// The pods of a version are not ready.
    #[error(transparent)]
    Readiness(#[from] Box<ReadinessError>),
    /// The operation would break what others have.
    #[error(transparent)]
    Protected(#[from] Protected),
    /// An object was deleted while it was needed.
    #[error("expected {object}, found no such object")]
    Deleted { object: Reference },
    /// A rotation begins only where there is nothing to apply: its steps would bring more than keys.
    #[error("expected proxies that run what file and keys say")]
    NotApplied,
    /// A preflight check failed.
    #[error(transparent)]
    Preflight(#[from] preflight::CheckFailed),
    /// Another process holds the Lease.
    #[error("lease {lease} is held by `{holder}`{}", since.as_ref().map(|since| format!(" since {}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))).unwrap_or_default())]
    Held {
        /// Namespace and name.
        lease: String,
        /// Who, and what they do.
        holder: String,
        /// Since when.
        since: Option<jiff::Timestamp>,
    },
    /// A Lease that this process held was taken over, or could not be renewed.
    #[error("lost lease `{lease}`: another process may have taken it over")]
    LostLease {
        /// Its name.
        lease: String,
    },
    /// An operation on a train fails at this release.
    #[error("{release}: {source}")]
    InTrain { release: String, source: Box<Error> },
    /// The roles of a train cannot be changed in one go.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A rollout cannot do what was asked of it.
    #[error(transparent)]
    Rollout(#[from] VerbError),
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

fn outdated(behind: &[ProxyStatus], desired: ReleaseGeneration) -> String {
    behind.iter().map(|proxy| proxy.compared_with(desired)).collect::<Vec<_>>().join("; ")
}

/// `authenticate` is the first request of each call, and no verb that a user knows.
fn unable(verb: &str, object: &str, code: u16, message: &str) -> String {
    let status = StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason());
    let message = if message.trim().is_empty() { status.unwrap_or_default() } else { message };
    match verb {
        AUTHENTICATE => format!("the API server {object} answered {code}: {message}"),
        _ => format!("the API server could not {verb} {object}: {code} {message}"),
    }
}

/// The verb of the request that asks who the user is; its object is the API server.
pub(crate) const AUTHENTICATE: &str = "authenticate";

fn list(proxies: &[preflight::ProxyRuntime]) -> String {
    proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn pods(behind: &[(String, String)]) -> String {
    behind.iter().map(|(namespace, pod)| format!("{namespace}/{pod}")).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The error of a write after that of the record: a refusal says what the record says now.
    pub(crate) fn after_record(self, release: &ReleaseName, record: &Record) -> Self {
        match self {
            Self::Forbidden { .. } | Self::Conflict { .. } | Self::Refused { .. } => Self::RecordAhead {
                release: release.to_string(),
                last: record.last().unwrap_or_default(),
                source: Box::new(self),
            },
            other => other,
        }
    }
}

impl From<canary_release::record::Error> for Error {
    fn from(error: canary_release::record::Error) -> Self {
        Self::Plan(error.into())
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        Self::Plan(error.into())
    }
}
