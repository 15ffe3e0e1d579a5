//! What a caller should know of a plan beside its changes.

use super::RoleEdit;
use crate::preflight::CheckFailed;
use serde::{Serialize, Serializer};
use std::fmt;

/// A note about a plan. As JSON its text.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanNote {
    /// The writer of the routes, with the reason, or the routes that Istio tries first.
    Routes(String),
    /// The `DestinationRule`s of the whole mesh may not be listed.
    RulesNotListed { namespace: String },
    /// The `HTTPRoute`s or the `GRPCRoute`s of all namespaces may not be listed.
    RoutesNotListed,
    /// A preflight check that would fail: `apply` would not carry out the plan.
    CheckFails(CheckFailed),
    /// A version gets another role, or leaves.
    Role(RoleEdit),
}

impl fmt::Display for PlanNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routes(text) => f.write_str(text),
            Self::RulesNotListed { namespace } => write!(
                f,
                "not allowed to list DestinationRules in `{namespace}`: the settings of a mesh-wide rule for the Service, if there is \
                 one, are not taken over"
            ),
            Self::RoutesNotListed => f.write_str(
                "not allowed to list HTTPRoutes and GRPCRoutes of all namespaces: whether routes of others precede ours is known of those of the release \
                 and its gateways alone",
            ),
            Self::Role(edit) => edit.fmt(f),
            Self::CheckFails(failed) => write!(f, "check `{}` fails: {failed}", failed.check),
        }
    }
}

impl Serialize for PlanNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
