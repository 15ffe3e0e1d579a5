//! Why there is no plan.

use super::{RoleChange, RoleChangeKind, RuleConflict};
use crate::manifest;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A manifest is no object.
    #[error("expected a Kubernetes object, found one without `{field}`")]
    NoObject {
        /// What is missing, as a JSON pointer.
        field: &'static str,
    },
    /// A manifest is no YAML.
    #[error("expected a manifest as YAML: {0}")]
    NoYaml(String),
    /// What is kept between two calls has another shape.
    #[error("expected what canary-ctl keeps of a release, as JSON of format {}", super::record::FORMAT)]
    NoRecord(#[source] serde_json::Error),
    /// The object that carries the weight does not know the release.
    #[error("expected release `{release}` in {object}, found {found}")]
    NotCarried {
        /// The release.
        release: String,
        /// The object, as it is called.
        object: String,
        /// What is there instead.
        found: &'static str,
    },
    /// There is nothing to promote, and nothing to roll back.
    #[error("expected a canary, found none{}", last.as_ref().map(|last| format!("; the last change was by {last}")).unwrap_or_default())]
    NoCanary {
        /// What was done last.
        last: Option<String>,
    },
    /// The version before the promotion has left.
    #[error("expected version `{version}` to drain, found it gone: its routes and subset are taken away")]
    NoWayBack {
        /// The version.
        version: String,
    },
    /// A file is older than a promotion or a rollback.
    #[error("the file names `{named}` stable, and `{stable}` is{}", since(turn.as_deref()))]
    OldStable {
        /// The file's stable version.
        named: String,
        /// The one that is.
        stable: String,
        /// Who made it so.
        turn: Option<Box<RoleChange>>,
    },
    /// A file is older than a rollback.
    #[error("the file names `{}` canary: {turn}", turn.from)]
    OldCanary {
        /// The rollback.
        turn: Box<RoleChange>,
    },
    /// No `VirtualService` of somebody else is there to put routes into.
    #[error("expected a VirtualService that leads to Service `{service}`, found none")]
    NothingToEdit {
        /// The Service.
        service: String,
    },
    /// A route of somebody else's cannot be edited.
    #[error("cannot edit {object}: route {route} {found}")]
    Uneditable {
        /// The object.
        object: String,
        /// The route: its name, or its place among those that are not ours.
        route: String,
        /// What it does.
        found: String,
        /// What a person can do.
        hint: String,
    },
    /// Who writes the routes is somebody's to decide.
    #[error("{object} leads to the Service, and the file does not say who writes its routes")]
    Undecided {
        /// The object.
        object: String,
    },
    /// Istio would never try a route of ours.
    #[error("Istio would not come to the routes of {object} for host `{host}`: {by} {why}")]
    Hidden {
        /// Ours.
        object: String,
        /// The host that both answer for.
        host: String,
        /// Theirs.
        by: String,
        /// Why theirs comes first.
        why: &'static str,
    },
    /// An object to edit is a tool's.
    #[error("cannot edit {object}: it belongs to {owner}")]
    NotOurs {
        /// The object.
        object: String,
        /// The tool, or its field manager.
        owner: String,
    },
    /// An object under one of our names is somebody else's.
    #[error("cannot write {object}: it belongs to {owner}")]
    Claimed {
        /// The object.
        object: String,
        /// Its field managers.
        owner: String,
    },
    /// A restart would leave no ready pod.
    #[error("expected a rolling update of {deployment} that leaves a ready pod, found {found}")]
    NoRollingUpdate {
        /// The Deployment.
        deployment: String,
        /// What it says instead.
        found: String,
    },
    /// The rules that are there leave no place for ours.
    #[error(transparent)]
    Rules(#[from] RuleConflict),
    /// A configuration cannot be read or made.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRecord(_) => Some("a newer canary-ctl may have written it: use that one".to_owned()),
            Self::NotCarried { .. } => Some("`canary-ctl apply` puts it there".to_owned()),
            Self::Manifest(error) => error.hint(),
            Self::Rules(conflict) => Some(conflict.hint()),
            Self::NoCanary { .. } => Some("name one in `versions.canary`, and `canary-ctl apply`".to_owned()),
            Self::NoWayBack { version } => Some(format!(
                "name `{version}` in `versions.canary`, `canary-ctl apply`, give it its users, and promote it"
            )),
            Self::OldStable { stable, turn, .. } => Some(old_stable(stable, turn.as_deref())),
            Self::OldCanary { turn } => Some(format!(
                "take `versions.canary` out of the file; or give `--again` where `{}` is another build now: it comes at the file's weight, and old pins do not count",
                turn.from
            )),
            Self::NothingToEdit { .. } => {
                Some("set `routes: own`, and `apply` makes one; or write one first".to_owned())
            }
            Self::Uneditable { hint, .. } => Some(hint.clone()),
            Self::Undecided { .. } => Some(
                "set `routes: edit`: ours go before theirs, and `uninstall` takes them out; or `external`: you put them in; or `own`: one of ours beside it".to_owned(),
            ),
            Self::Hidden { by, .. } => Some(format!(
                "set `routes: edit`, and ours go into {by}; or `external`, and put them there"
            )),
            Self::NotOurs { owner, .. } => Some(format!(
                "set `routes: external`, and put the routes that `canary-ctl generate` prints into what {owner} applies; or take it with `apply --take-over` until {owner} writes it again"
            )),
            Self::NoRollingUpdate { .. } => Some(
                "let its strategy be `RollingUpdate` with fewer unavailable pods than replicas, or add a replica".to_owned(),
            ),
            Self::Claimed { owner, .. } => Some(format!(
                "`apply --force-conflicts` makes it ours, and takes out what only {owner} has set (`diff` shows it); after that, take it out of what {owner} applies"
            )),
            Self::NoObject { .. } | Self::NoYaml(_) => None,
        }
    }
}

fn since(turn: Option<&RoleChange>) -> String {
    turn.map(|turn| format!(" since {turn}")).unwrap_or_default()
}

/// What the file has to say. Without that, applying it would move everybody back.
fn old_stable(stable: &str, turn: Option<&RoleChange>) -> String {
    let file =
        format!("set `versions.stable: {stable}`, and take `versions.canary` out or name the next one there");
    match turn.map(|turn| turn.way) {
        Some(RoleChangeKind::Promoted) => format!("{file}; `canary-ctl rollback` takes the promotion back"),
        _ => file,
    }
}
