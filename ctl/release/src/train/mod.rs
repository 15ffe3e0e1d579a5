//! Releases that change version together: which are one train, and in which order they are promoted.
//!
//! ```text
//! connected  which releases of one name are one train                   Record          -> ReleaseName
//! order      a release before those that call it                        CalledRelease   -> ReleaseName
//! ```

mod connected;
mod order;

pub use connected::{TrainPlace, connected};
pub use order::{CalledRelease, promotion_order};

use crate::record::RoleChange;
use crate::spec::ReleaseName;

/// The reason for which the roles of a train cannot be changed together.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// No release names the train.
    #[error("expected releases of train `{train}`, found none")]
    NoRelease { train: String },
    /// Releases of several namespaces have the name, and none of them calls another.
    #[error("expected one train `{train}`, found {}", groups.iter().map(|group| joined(group)).collect::<Vec<_>>().join("; "))]
    Ambiguous {
        /// The name.
        train: String,
        /// The releases of each train.
        groups: Vec<Vec<ReleaseName>>,
    },
    /// No order has each release before its callers.
    #[error(
        "expected an order of train `{train}` with each release before its callers, found releases that call each other: {}",
        joined(releases)
    )]
    Cycle {
        train: String,
        /// The releases that call each other.
        releases: Vec<ReleaseName>,
    },
    /// The canary of a release was rolled back: its callers would call the old version.
    #[error("expected a canary of {release}, or its promotion, found that {change}")]
    RolledBack {
        release: ReleaseName,
        /// The rollback.
        change: Box<RoleChange>,
    },
    #[error("expected a canary or a promotion in train `{train}`, found none in {}", joined(releases))]
    NothingToDo { train: String, releases: Vec<ReleaseName> },
}

fn joined(releases: &[ReleaseName]) -> String {
    releases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
