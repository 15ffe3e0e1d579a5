//! What would be written, and why, before anything is: pure, so that every order of writes can be looked at.
//!
//! ```text
//! object          name and body of an API object                      text               -> Object
//! ownership       which fields are ours                               managedFields      -> Owners
//! fields          differences field by field, keys redacted           two objects        -> Field
//! change          one write, with its reason                          Object             -> Change
//! adopt           objects of others under our names                   managedFields      -> managedFields
//! install         make before break, and prune                        desired, observed  -> Plan
//! removal         the reverse                                         observed           -> Plan
//! config_update   a weight, and nothing else                          observed           -> Plan
//! carried         the part of an object that a weight writes          Object             -> Object
//! reroute         default routes after a role change                  observed           -> Plan
//! subsets         versions that have lost their subset                observed           -> LostSubset
//! edit            our routes within objects of others                 Object             -> Change
//! effective_rule  the DestinationRule in force, as istiod selects it  rules              -> Effective
//! inherit         merges our DestinationRule with existing ones       rules              -> Object
//! rule_conflict   why they cannot be merged
//! coverage        ways to the pods that bypass our routes             objects            -> Gap
//! record          what is kept between two calls                      ConfigMap          -> Record
//! role_change     promotion and rollback                              Record             -> Record
//! trial           a new module until every proxy runs it              Record             -> Plan
//! pause           who has frozen a release
//! preflight       checks that are skipped by their name               Record             -> CheckFailed
//! wasm_runtime    whether a proxy survives a first Wasm filter        metrics            -> WasmRuntime
//! restart         rolling update of a Deployment by one label         Deployment         -> RolloutStatus
//! rights          RBAC rules that the verbs need                      Release            -> Rule
//! error           why there is no plan
//! ```

mod adopt;
mod carried;
mod change;
mod config_update;
mod coverage;
mod edit;
mod effective_rule;
#[cfg(test)]
mod effective_rule_tests;
mod error;
mod fields;
mod inherit;
#[cfg(test)]
mod inherit_tests;
mod install;
mod object;
mod ownership;
mod pause;
mod preflight;
mod record;
mod removal;
mod reroute;
mod restart;
mod rights;
mod role_change;
mod rule_conflict;
mod subsets;
mod trial;
mod wasm_runtime;

pub use adopt::check_claims;
pub use change::{Action, Change, Plan, Why};
pub use config_update::plan_config_update;
pub use coverage::{Coverage, Gap, Outsiders, Reach, gaps};
pub use edit::{Ways, check_edits, choose, covers_mesh, edits, handed_back, is_lost, order, tool};
pub use effective_rule::{Called, Client, Effective, HostRule, ROOT_NAMESPACE, effective};
pub use error::Error;
pub use fields::Field;
pub use inherit::inherit;
pub use install::{install, prune};
pub use object::{Object, Reference};
pub use ownership::Owners;
pub use pause::Pause;
pub use preflight::{CheckFailed, PreflightCheck, check_pause, check_step, check_stickiness};
pub use record::{OwnedObject, Proxies, Record, Service};
pub use removal::removal;
pub use reroute::reroute;
pub use restart::{
    RolloutStatus, check_rolling_update, is_labelled_by_us, makes_pods_with, next_label, restart_body,
    rollout_status, runtime_change, runtime_removal,
};
pub use rights::{KEYS, Rule, add_restart_rights, rights};
pub use role_change::{RoleChange, RoleChangeKind, RollbackTarget, drains_for, ends_after};
pub use rule_conflict::{Clients, RuleConflict};
pub use subsets::{LostSubset, lost_subsets};
pub use trial::{Trial, Trying};
pub use wasm_runtime::{ProxyRuntime, WasmRuntime, check_wasm_runtime, danger};

/// The field manager of everything that we write.
pub const FIELD_MANAGER: &str = "canary-ctl";
