//! Why our `DestinationRule` cannot be merged with the existing ones.

use crate::object::Reference;

/// The conflict for which our rule cannot be merged with the existing ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleConflict {
    /// A rule that proxies find first.
    #[error(
        "expected proxies {of} to go by {ours}, found {} before it: they would not know the subsets that routes name",
        list(by)
    )]
    Hidden {
        /// Our rule.
        ours: Box<Reference>,
        /// Whose proxies.
        of: Clients,
        /// The rules that apply to them.
        by: Vec<Reference>,
    },
    /// A subset of one name that is two things.
    #[error(
        "subset `{name}` of {theirs} and subset `{name}` of {ours} differ, and istiod takes the older rule's"
    )]
    Subset {
        /// Our rule.
        ours: Box<Reference>,
        /// The other.
        theirs: Box<Reference>,
        /// The subset.
        name: String,
        /// Ours, as JSON.
        wanted: String,
    },
    /// Proxies use different settings, and our rule has one `trafficPolicy`.
    #[error(
        "proxies {one} go by the `trafficPolicy` of {}, those {other} by that of {}: {ours} cannot have both",
        list(first),
        list(second)
    )]
    Policies {
        /// Our rule.
        ours: Box<Reference>,
        /// Some.
        one: Clients,
        /// Their rules.
        first: Vec<Reference>,
        /// Others.
        other: Clients,
        /// Their rules.
        second: Vec<Reference>,
    },
}

/// The proxies of a namespace; the empty one stands for all that are not named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clients(pub String);

impl std::fmt::Display for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { f.write_str("in other namespaces") } else { write!(f, "in `{}`", self.0) }
    }
}

fn list(rules: &[Reference]) -> String {
    if rules.is_empty() {
        return "no rule".to_owned();
    }
    rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
