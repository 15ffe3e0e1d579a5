//! Why a route of another owner cannot be edited.

use std::fmt;

/// The reason for which a route of another owner cannot be edited. Its text continues the name of the route.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteObstacle {
    /// It has several destinations of the Service.
    SplitsRequests { service: String },
    /// Another release has its routes before it.
    OtherRelease,
    /// It matches the filter's routing header.
    MatchesRoutingHeader,
    /// It leads to a subset that is not the stable version's.
    OtherSubset {
        subset: String,
        /// The stable version.
        stable: String,
    },
}

impl fmt::Display for RouteObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SplitsRequests { service } => {
                write!(f, "splits requests among destinations of `{service}`")
            }
            Self::OtherRelease => f.write_str("belongs to another release"),
            Self::MatchesRoutingHeader => f.write_str("matches the filter's header itself"),
            Self::OtherSubset { subset, stable } => {
                write!(f, "leads to subset `{subset}`, which is not the one of stable version `{stable}`")
            }
        }
    }
}
