//! What may be wrong with a release on a cluster. What a person can do about it is said at the edge, by kind.

use super::{LostCookies, OpenFuse, ProxyStatus, Share, TemplateDrift, WrongCookie};
use crate::delivery::ModuleRollout;
use crate::format::{counted, none_ready};
use crate::metrics::ReleaseGeneration;
use crate::object::Reference;
use crate::plan::{self, MissingObject};
use crate::preflight::{CheckFailed, DefaultRoute, RouteFault, found_of};
use crate::rbac::Right;
use crate::record::{Operation, RecordFault};
use crate::routing::{Gap, route_kinds};
use crate::spec::Routes;
use crate::state::ScaledDown;
use crate::status::LostSubset;
use assignment::Weight;
use assignment::contract::Role;
use std::collections::BTreeMap;

/// Something that a person should look at. Its text is one sentence, without a hint.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum Problem<'o> {
    /// A version that users are sent to has no ready pod.
    #[error("version `{version}` has {}", none_ready(*all))]
    NoReadyPod {
        version: &'o str,
        role: Role,
        /// Its pods, ready or not.
        all: usize,
    },
    /// Stable has too few pods for the users who would come back from the canary.
    #[error("{0}")]
    ScaledDown(ScaledDown),
    /// A Deployment replaces the pods of a live version by others.
    #[error("{drift}")]
    TemplateDrift {
        /// The Deployment, and what it makes now.
        drift: &'o TemplateDrift,
    },
    /// The record does not exist.
    #[error("the record of the release was deleted: this is what its objects say")]
    NoRecord,
    /// The record on the cluster is not obeyed.
    #[error("the record of the release is not obeyed: {fault}; this is what its objects say")]
    RefusedRecord { fault: &'o RecordFault },
    /// The seals of the record could not be checked.
    #[error("the seals of the record were not checked: {reason}; this is what it says")]
    UnverifiedRecord { reason: &'o str },
    /// An object of the filter does not exist.
    #[error("expected {object}, found no such object: no proxy decides, and clients can name a version")]
    NoFilter { object: &'o Reference },
    /// Another object of ours does not exist.
    #[error("{object}")]
    Missing {
        /// The object, and why it does not exist.
        object: &'o MissingObject,
    },
    /// Routes of ours are no longer in an object of another owner.
    #[error("{object} has lost routes of ours: {} has written it", by.join(", "))]
    LostRoutes {
        object: &'o str,
        /// The field managers that have written it since.
        by: &'o [String],
    },
    /// Routes of ours are copies of routes that have changed since.
    #[error("{object} has routes of ours with former settings: {} has changed the routes that they copy", by.join(", "))]
    OutdatedRoutes {
        object: &'o str,
        /// The field managers that have written it since.
        by: &'o [String],
    },
    /// Routes of ours are no longer in an object, and cannot be put back.
    #[error("{}", not_repairable(error))]
    NotRepairable { error: &'o plan::Error },
    /// A configuration object does not contain the release.
    #[error("{error}")]
    NotDeployed {
        /// Which, and what was found.
        error: &'o plan::Error,
    },
    /// The subset of a version is missing or selects other pods.
    #[error("{} has no subset with the pods of version `{}`", lost.rule, lost.version)]
    LostSubset { lost: &'o LostSubset },
    /// Another field manager has written an object of ours.
    #[error("{object} is not what was written: {} has changed it", by.join(", "))]
    ObjectChanged {
        object: &'o str,
        /// The field managers.
        by: &'o [String],
    },
    #[error("no {} leads to the canary by the filter's header{}", route_kinds(*routes), found_of(faults))]
    NoRoutes {
        /// The writer of the routes.
        routes: Routes,
        /// The routes that name it, with the reasons.
        faults: &'o [RouteFault],
    },
    /// Requests can bypass our routes.
    #[error("{gap}: {}", reached_pods(reached))]
    Bypass {
        /// The object that leads past them.
        gap: &'o Gap,
        /// The ready pods that they reach and that are not of the stable version, by version.
        reached: &'o BTreeMap<String, usize>,
    },
    /// Requests without a decision get other pods than those of stable.
    #[error("{0}")]
    DefaultRoute(&'o DefaultRoute),
    /// A check by which an operation would refuse to send users to a version: their requests fail now.
    #[error("{0}")]
    CheckFails(&'o CheckFailed),
    /// An operation was interrupted before it wrote this object.
    #[error("{object} does not carry generation {generation}")]
    NotWritten {
        object: &'o str,
        /// The record's generation.
        generation: u64,
        /// The operation that was interrupted.
        operation: Option<&'o Operation>,
    },
    /// A new module may never arrive, and with it no weight.
    #[error("module {rollout} was not seen in every proxy")]
    ModuleRollout { rollout: &'o ModuleRollout },
    /// A proxy runs another generation, or none.
    #[error("{}, generation {} is desired", proxy.compared_with(*desired), desired.generation)]
    ProxyBehind {
        proxy: &'o ProxyStatus,
        /// The record's generation.
        desired: ReleaseGeneration,
    },
    /// No pod is selected whose proxy could decide.
    #[error(
        "no ready proxy runs the filter: requests are not assigned, and clients can set the routing header"
    )]
    NoProxies,
    /// It is not known what the proxies run.
    #[error("expected to see what the proxies run, found no right to {} {} in namespace `{}`", right.verb, right.resource, right.namespace)]
    NotObserved {
        /// The missing right.
        right: &'o Right,
    },
    /// A proxy may die of the next Wasm filter. One that reports no metrics is [`Problem::ProxyBehind`].
    #[error("{}/{} runs without V8, and may die of its first Wasm filter", proxy.namespace, proxy.pod)]
    NoWasmRuntime { proxy: &'o ProxyStatus },
    /// Clients do not return the filter's cookies.
    #[error("{0}")]
    LostCookies(LostCookies),
    /// The session cookie is not that of the application's sessions.
    #[error("{0}")]
    WrongCookie(WrongCookie<'o>),
    /// New sessions are not distributed as the weight says, and chance does not explain it.
    #[error("{} of {} new sessions came to the canary in {seconds} s, at a weight of {weight}", share.canary, share.of)]
    ShareDeviates {
        share: Share,
        /// Length of the window.
        seconds: u64,
        /// The weight in force.
        weight: Weight,
    },
    /// The fuse of the canary is open.
    #[error("{0}")]
    FuseOpen(OpenFuse<'o>),
    /// A weight with an expiry has ended.
    #[error("the weight {weight} has expired")]
    WeightExpired { weight: Weight },
    #[error("the drain deadline of version `{version}` has passed")]
    DrainOverdue { version: String },
    /// A version is gone, and objects still name it.
    #[error("routes and subset of the removed version `{version}` remain")]
    NotPruned { version: &'o str },
}

impl Problem<'_> {
    /// The identifier by which scripts know it.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::NoReadyPod { .. } => "no-ready-pod",
            Self::ScaledDown(_) => "scaled-down",
            Self::TemplateDrift { .. } => "template-drift",
            Self::NoRecord => "no-record",
            Self::RefusedRecord { .. } => "refused-record",
            Self::UnverifiedRecord { .. } => "unverified-record",
            Self::NoFilter { .. } => "no-filter",
            Self::Missing { .. } => "missing",
            Self::LostRoutes { .. } => "lost-routes",
            Self::OutdatedRoutes { .. } => "outdated-routes",
            Self::NotRepairable { .. } => "not-repairable",
            Self::NotDeployed { .. } => "not-deployed",
            Self::LostSubset { .. } => "lost-subset",
            Self::ObjectChanged { .. } => "object-changed",
            Self::NoRoutes { .. } => "no-routes",
            Self::Bypass { .. } => "bypass",
            Self::DefaultRoute(_) => "default-route",
            Self::CheckFails(failed) => failed.check.name(),
            Self::NotWritten { .. } => "not-written",
            Self::ModuleRollout { .. } => "module-rollout",
            Self::ProxyBehind { .. } => "proxy-behind",
            Self::NoProxies => "no-proxies",
            Self::NotObserved { .. } => "not-observed",
            Self::NoWasmRuntime { .. } => "no-wasm-runtime",
            Self::LostCookies(_) => "lost-cookies",
            Self::WrongCookie(_) => "wrong-cookie",
            Self::ShareDeviates { .. } => "share-deviates",
            Self::FuseOpen(_) => "fuse-open",
            Self::WeightExpired { .. } => "weight-expired",
            Self::DrainOverdue { .. } => "drain-overdue",
            Self::NotPruned { .. } => "not-pruned",
        }
    }
}

/// The pods that requests reach which bypass our routes.
fn reached_pods(reached: &BTreeMap<String, usize>) -> String {
    if reached.is_empty() {
        return "such requests may get any version".to_owned();
    }
    let pods = reached.iter().map(|(version, ready)| {
        format!("{} of version `{version}`", counted(*ready, "ready pod", "ready pods"))
    });
    format!("such requests reach {}, whatever the weight", pods.collect::<Vec<_>>().join(" and "))
}

fn not_repairable(error: &plan::Error) -> String {
    match error {
        plan::Error::NotOurs { object, owner } => {
            format!("{object} has lost routes of ours: it belongs to {owner}")
        }
        other => other.to_string(),
    }
}
