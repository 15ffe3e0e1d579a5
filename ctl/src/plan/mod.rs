//! What would be written, and why, before anything is: pure, so that every order of writes can be looked at.
//!
//! ```text
//! object     what an object is called, and its fields     text, API object -> Object
//! ownership  which of its fields are ours                 managedFields    -> Owners
//! fields     what differs, field by field, keys redacted  two objects      -> fields
//! adopt      objects of others under our names           managedFields    -> managedFields
//! change     one object of it, with its reason
//! install    make before break                            desired+observed -> Plan
//! removal    break in reverse                             observed         -> Plan
//! reweigh    a weight, and nothing else                   observed         -> Plan
//! carried    what of an object a weight writes             object           -> object
//! subsets    the versions that have lost theirs            observed         -> versions
//! reroute    another stable version, versions that left   observed         -> Plan
//! edit       our routes within objects of others      object           -> Object, Change
//! record     what is kept between two calls               ConfigMap       <-> Record
//! trial      a new module, until it is seen             Record           -> Plan
//! turn       promoted, rolled back, finished              Record           -> Record
//! pause      who has stopped it from changing
//! restart    a Deployment's pods, by a label            Deployment       -> label
//! rights     what steering it needs                       Release          -> rules
//! effective_rule  the DestinationRule that a proxy goes by, as istiod works it out
//! coverage   the ways to the pods past our routes         objects          -> Gaps
//! inherit    ours among those that are there              rules            -> Object
//! guard      what is refused unless its name is given     Record           -> Refusal
//! wasm_runtime  whether a proxy survives its first Wasm filter  metrics     -> Refusal
//! ```

mod adopt;
mod carried;
mod change;
mod coverage;
mod edit;
mod effective_rule;
#[cfg(test)]
mod effective_rule_tests;
mod error;
mod fields;
mod guard;
mod inherit;
#[cfg(test)]
mod inherit_tests;
mod install;
mod object;
mod ownership;
mod pause;
mod record;
mod removal;
mod reroute;
mod restart;
mod reweigh;
mod rights;
mod rule_conflict;
mod subsets;
mod trial;
mod turn;
mod wasm_runtime;

pub use adopt::judge_claims;
pub use change::{Action, Change, Plan, Why};
pub use coverage::{Coverage, Gap, Outsiders, Reach, gaps};
pub use edit::{Ways, choose, covers_mesh, edits, handed_back, is_lost, judge_edits, order, tool};
pub use effective_rule::{Called, Client, Effective, HostRule, ROOT_NAMESPACE, effective};
pub use error::Error;
pub use fields::Field;
pub use guard::{Guard, Refusal, judge_pause, judge_step, judge_stickiness};
pub use inherit::inherit;
pub use install::{install, prune};
pub use object::{Object, Reference};
pub use ownership::Owners;
pub use pause::Pause;
pub use record::{Kept, Proxies, Record, Service};
pub use removal::removal;
pub use reroute::reroute;
pub use restart::{
    RolloutStatus, check_rolling_update, is_labelled_by_us, makes_pods_with, next_label, restart_body,
    rollout_status, runtime_change, runtime_removal,
};
pub use reweigh::reweigh;
pub use rights::{KEYS, Rule, add_restart_rights, rights};
pub use rule_conflict::{Clients, RuleConflict};
pub use subsets::{LostSubset, lost_subsets};
pub use trial::{Trial, Trying};
pub use turn::{Back, Turn, Way, drains_for, ends_after};
pub use wasm_runtime::{ProxyRuntime, WasmRuntime, danger, judge_wasm_runtime};

/// The field manager of everything that we write.
pub const FIELD_MANAGER: &str = "canary-ctl";
