//! The `DestinationRules` of a host: which one is in force for which client, and how ours is merged with them.
//!
//! ```text
//! effective_rule  the rule in force, as istiod selects it     rules   -> Effective
//! merge_policy    our rule with what the existing ones set    rules   -> Object
//! conflict        why they cannot be merged
//! ```

mod conflict;
mod effective_rule;
#[cfg(test)]
mod effective_rule_tests;
mod merge_policy;
#[cfg(test)]
mod merge_policy_tests;

pub use conflict::{Clients, RuleConflict};
pub(crate) use effective_rule::labels;
pub use effective_rule::{CalledService, Client, Effective, HostRule, ROOT_NAMESPACE, effective};
pub use merge_policy::merge_rule;
