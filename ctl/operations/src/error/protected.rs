//! What an operation would break of others.

use canary_release::object::Reference;
use canary_release::preflight::DefaultRoute;
use canary_release::routing::ROUTE_KIND;
use canary_release::spec::ReleaseName;

/// Objects of others that an operation would break: only their owners can change them.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Protected {
    /// An external route leads to a version that is gone, so its subset stays.
    #[error("version `{version}` is gone, and {ROUTE_KIND} `{route_object}` leads to it")]
    RoutedVersion {
        version: String,
        /// The name of the object, in the release's namespace.
        route_object: String,
    },
    /// The plain Service selects a version that is gone or ends, so its objects stay.
    #[error("{0}")]
    DefaultRoute(Box<DefaultRoute>),
    /// An external route leads to a subset that only our rule has.
    #[error("{ROUTE_KIND} `{route_object}` leads to subset `{subset}` of {rule}")]
    RoutedSubset {
        /// The name of the object, in the release's namespace.
        route_object: String,
        subset: String,
        /// Our rule.
        rule: Box<Reference>,
    },
    /// Another release signs with the same keys in proxies that this one does not reach.
    #[error("`{other}` has these keys too, and proxies that this release does not reach ({beyond})")]
    SharedKeys {
        other: ReleaseName,
        /// The object with the configuration of such proxies.
        beyond: Box<Reference>,
    },
}
