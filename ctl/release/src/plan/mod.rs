//! What would be written, and why, before anything is written. Pure, so that every order of writes can be tested.
//!
//! ```text
//! change          one write, with its reason                          Object             -> Change
//! reconcile       what a release should have, from what exists            Observed           -> Desired
//! install         make before break, and prune                        desired, observed  -> Plan
//! removal         the reverse                                         observed           -> Plan
//! config_update   a weight, and nothing else                          observed           -> Plan
//! owned_config    the part of an object that a weight writes          Object             -> Object
//! module_rollout  a new module until every proxy runs it              Record             -> Plan
//! module_backup   the embedded modules before it                      Record             -> Change
//! restart         rolling update of a Deployment by one label         Deployment         -> RolloutStatus
//! version_label   the version label of running pods              LabelledWorkload   -> LabelPlan
//! missing_object  deleted, or never written                           Record, Observed   -> MissingObject
//! take_ownership  objects of other owners with our names              managedFields      -> managedFields
//! edit_policy     owners whose objects are edited only on request     object             -> owner
//! injection       our routes in objects of others                    object             -> Object, Change
//! beside_routes   what versions have beside routes of others          Observed           -> Object
//! merge_order     which routes Istio tries first, where it merges     objects            -> notes
//! reroute         default routes after a role change                  observed           -> Plan
//! note            what a caller should know of a plan
//! role_edit       what an edit of the roles does to users             Record, Record     -> RoleEdit
//! error           why there is no plan
//! ```

mod beside_routes;
mod change;
mod config_update;
pub(crate) mod edit_policy;
mod error;
mod injection;
mod install;
mod merge_order;
mod missing_object;
mod module_backup;
mod module_rollout;
mod note;
mod owned_config;
mod reconcile;
mod removal;
mod reroute;
mod restart;
mod role_edit;
pub(crate) mod take_ownership;
mod version_label;

pub use beside_routes::{GatewayApiObjects, Outdated};
pub use change::{Action, Change, ChangeReason, Plan};
pub use config_update::plan_config_update;
pub use edit_policy::{check_edits, default_routes, owning_tool};
pub use error::Error;
pub use injection::edits;
pub(crate) use injection::{edited, undone};
pub use install::{install, prune};
pub use merge_order::order;
pub use missing_object::{MissingCause, MissingObject, missing_objects};
pub use module_backup::{back_up_modules, drop_module_backup};
pub use module_rollout::{ModuleChoice, plan_module_rollout};
pub use note::PlanNote;
pub use reconcile::{Desired, Observed, config_references};
pub use removal::removal;
pub(crate) use reroute::removal_of_left;
pub use reroute::reroute;
pub use restart::{
    RolloutStatus, check_rolling_update, is_labelled_by_us, makes_pods_with, next_label, restart_body,
    rollout_status, runtime_change, runtime_removal,
};
pub use role_edit::RoleEdit;
pub use take_ownership::check_claims;
pub use version_label::{
    LabelAction, LabelDirection, LabelNote, LabelPlan, LabelRefusal, LabelStep, LabelWrite, LabelledWorkload,
    VERSION_ANNOTATION, VersionLabel, VersionLabelError, uid,
};
