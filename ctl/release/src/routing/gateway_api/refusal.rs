//! Why there are no routes of our own beside those of others.

use super::route_kind::RouteKind;
use crate::object::NamespacedName;
use std::fmt;

/// A rule of a route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RulePlace {
    /// The kind of the route.
    pub kind: RouteKind,
    /// Namespace and name of the route.
    pub route: NamespacedName,
    /// The rule's position in `spec.rules`, from 0.
    pub rule: usize,
}

impl fmt::Display for RulePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, route: (namespace, name), rule } = self;
        write!(f, "`spec.rules[{rule}]` of {} {namespace}/{name}", kind.name())
    }
}

/// The reason that a rule cannot be repeated for a version, or that its sibling would change the answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SiblingRefusal {
    /// The rule splits requests.
    #[error("{place} splits requests between the Service and other backends")]
    SeveralBackends {
        /// The rule.
        place: RulePlace,
    },
    /// Its path or its method is a regular expression, whose precedence differs between implementations.
    #[error(
        "{place} matches {} by a regular expression, and no specification says which rules it precedes",
        place.kind.subject()
    )]
    RegexPath {
        /// The rule.
        place: RulePlace,
    },
    /// It has a field that cannot be repeated, or that is not known.
    #[error("{place} has `{field}`, which cannot be repeated for a version")]
    UnknownField {
        /// The rule.
        place: RulePlace,
        /// The field.
        field: String,
    },
    /// It matches the filter's routing header.
    #[error("{place} matches the filter's header itself")]
    MatchesRoutingHeader {
        /// The rule.
        place: RulePlace,
    },
    /// A match has as many headers as the API allows.
    #[error(
        "{place} has a match with 16 headers, the limit of the Gateway API, and a version needs one more"
    )]
    TooManyHeaders {
        /// The rule.
        place: RulePlace,
    },
    /// A listener of the route admits none of the Service's namespace.
    #[error(
        "`allowedRoutes` of listener `{listener}` of Gateway {}/{} admits {place}, and no {} of namespace `{namespace}`",
        gateway.0, gateway.1, place.kind.name()
    )]
    NotAdmitted {
        /// The rule, of another namespace.
        place: RulePlace,
        /// The Gateway.
        gateway: NamespacedName,
        /// Its listener.
        listener: String,
        /// The namespace of the Service.
        namespace: String,
    },
    /// A filter of a rule of another namespace that may name objects there.
    #[error(
        "{place} has a filter `{filter}`, which may name objects that routes of namespace `{namespace}` may not"
    )]
    ForeignFilter {
        /// The rule.
        place: RulePlace,
        /// The type of the filter.
        filter: String,
        /// The namespace of the Service.
        namespace: String,
    },
    /// The sibling would precede a rule that precedes its own.
    #[error("a route to a version beside {place} would take requests of {other}")]
    TakesRequests {
        /// The rule that leads to the Service.
        place: RulePlace,
        /// The rule that gets these requests today.
        other: RulePlace,
    },
    /// The order of the two is not specified.
    #[error("no specification says whether {place} or {other} gets requests that match both")]
    UnspecifiedOrder {
        /// The rule that leads to the Service.
        place: RulePlace,
        /// The other one.
        other: RulePlace,
    },
    /// There would be more objects than their names can number.
    #[error("expected at most {most} {}s of our own in namespace `{namespace}`, found {count}", kind.name())]
    TooManyObjects {
        /// Their kind.
        kind: RouteKind,
        /// Their namespace.
        namespace: String,
        /// Their number.
        count: usize,
        /// The largest number.
        most: usize,
    },
}
