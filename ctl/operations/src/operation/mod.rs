//! The operations: checks, then writes in their order.
//!
//! ```text
//! set_weight        checks and writes a weight, and nothing else          WeightRequest -> WeightUpdate
//! apply             the desired state of a release, make before break     Release -> Applied
//! role_change       promotion, rollback, end of a drain, with checks      Record -> RoleChanged
//! train             the releases of a train, and their roles in one go    name -> Train
//! rotate            a new signing key                                     Release -> Rotated
//! pause             freezes a release                                     Record -> StoredRecord
//! prepare, restart  restarts proxies without V8                           Release -> Preparation
//! readiness         until the pods of a version are ready                 VersionLabel -> VersionReady
//! adopt             the version label for running pods                    Deployment -> Adoption
//! checks            preflight checks that need the cluster                Record -> CheckFailed
//! coverage          routes to the pods: ours, and those that bypass them  Record -> Coverage
//! ```

pub(crate) mod adopt;
pub(crate) mod apply;
pub(crate) mod checks;
pub(crate) mod coverage;
pub(crate) mod pause;
pub(crate) mod prepare;
pub(crate) mod readiness;
pub(crate) mod restart;
pub(crate) mod role_change;
pub(crate) mod role_change_checks;
pub(crate) mod rotate;
pub(crate) mod set_weight;
pub(crate) mod train;
