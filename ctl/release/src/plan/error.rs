//! Why there is no plan.

use super::MissingObject;
use crate::delivery::MissingModule;
use crate::destination_rule::RuleConflict;
use crate::object::{ObjectError, Reference};
use crate::routing::{ROUTE_KIND, RouteObstacle, SiblingRefusal};
use crate::{config, manifest, record};
use std::collections::BTreeSet;
use strum::{IntoStaticStr, VariantNames};

/// The reason for which there is no plan.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Error {
    /// A manifest is no object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The record cannot be read, or its release cannot change roles so.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The configuration object does not contain the release.
    #[error("expected release `{release}` in {object}, found {found}")]
    NotCarried {
        release: String,
        /// The object, as it is called.
        object: String,
        /// The found value.
        found: &'static str,
    },
    /// An object of the release does not exist.
    #[error(transparent)]
    MissingObject(#[from] Box<MissingObject>),
    /// An embedded module that is to be written is in no object.
    #[error(transparent)]
    MissingModule(#[from] MissingModule),
    /// There is no route object of another owner to inject routes into.
    #[error("expected a {ROUTE_KIND} that leads to Service `{service}`, found none")]
    NothingToEdit { service: String },
    /// A route of another owner cannot be edited.
    #[error("cannot edit {object}: route {route} {obstacle}")]
    Uneditable {
        object: String,
        /// The route: its name, or its number among those that are not ours.
        route: String,
        /// Its effect.
        obstacle: RouteObstacle,
    },
    /// There is no route of others to write routes beside.
    #[error(
        "expected an HTTPRoute or a GRPCRoute at a Gateway of the release that leads to Service `{service}`, found none{}",
        ungranted(service, routes)
    )]
    NothingBeside {
        service: String,
        /// Routes of other namespaces that name it, and that no `ReferenceGrant` lets lead there.
        routes: Vec<Reference>,
    },
    /// The Service does not select pods.
    #[error("expected Service `{service}` with a selector, found none")]
    NoSelector { service: String },
    /// Rules that cannot be repeated for each version.
    #[error("no routes beside those of others: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Siblings(BTreeSet<SiblingRefusal>),
    /// The proxies use different settings for the Service.
    #[error("expected one `trafficPolicy` for `{service}` in all proxies of the release, found several")]
    SeveralPolicies { service: String },
    /// The routes cannot become those of another kind.
    #[error("expected `routes: {before}`, with which the release was installed, found `{after}`")]
    OtherRoutes { before: &'static str, after: &'static str },
    /// The user has to decide who writes the routes.
    #[error("{object} leads to the Service, and the file does not say who writes its routes")]
    Undecided { object: String },
    /// Istio would never match one of our routes.
    #[error("Istio would not come to the routes of {object} for host `{host}`: {by} {why}")]
    Hidden {
        /// Ours.
        object: String,
        /// The host that both answer for.
        host: String,
        /// Theirs.
        by: String,
        /// The reason for which the other object comes first.
        why: String,
        /// Whether one of its routes leads to the Service.
        leads: bool,
    },
    /// An object to edit is a tool's.
    #[error("cannot edit {object}: it belongs to {owner}")]
    NotOurs {
        object: String,
        /// The tool, or its field manager.
        owner: String,
    },
    /// An object with one of our names belongs to another owner.
    #[error("cannot write {object}: it belongs to {owner}")]
    Claimed {
        object: String,
        /// Its field managers.
        owner: String,
    },
    /// A restart would leave no ready pod.
    #[error("expected a rolling update of {deployment} that leaves a ready pod, found {found}")]
    NoRollingUpdate {
        deployment: String,
        /// The found value.
        found: String,
    },
    /// Our rule cannot be merged with the existing ones.
    #[error(transparent)]
    Rules(#[from] RuleConflict),
    /// No manifests can be made.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// A configuration on the cluster cannot be read.
    #[error(transparent)]
    Config(#[from] config::Error),
}

/// The routes of other namespaces that do not lead to a Service, behind a sentence.
fn ungranted(service: &str, routes: &[Reference]) -> String {
    if routes.is_empty() {
        return String::new();
    }
    let routes: Vec<String> = routes.iter().map(ToString::to_string).collect();
    let routes = routes.join(", ");
    format!(
        "; {routes} would, and no ReferenceGrant in the namespace of the Service lets it: `from` its kind and namespace, `to` Service `{service}`"
    )
}

impl Error {
    /// Whether an object of the release does not exist, or does not contain it.
    pub const fn is_not_deployed(&self) -> bool {
        matches!(self, Self::NotCarried { .. } | Self::MissingObject(_))
    }
}
