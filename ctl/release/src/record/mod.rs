//! The record of a release and its changes. Pure: its ConfigMap is written by `canary-operations`.
//!
//! ```text
//! history         changes, each with operator, time and reason           state          -> entries
//! operation       the operations that the history names
//! expiry          when a weight ends by itself                        Expiry         -> Until
//! release_record  the state, the objects and the settings of a release   ConfigMap      -> Record
//! role_change     promotion and rollback of a record                     Record         -> Record
//! names           each name in it is one that a release can have         Record         -> check
//! seal            each namespace vouches for what is written there      Record         -> RecordSeals
//! recover         a record that was deleted, from the objects            objects        -> Record
//! recover_versions  what versions have for themselves, of these        objects        -> ServiceRef
//! service_ref     the Service, and the objects of single versions        Record         -> names
//! carried_out     the mark of a release that a controller carries out
//! pause           the pause of a release, with its pauser
//! rollout         a rollout in the record: start, transitions, alerts, results   Decision -> Record
//! train_round     the role changes of one promotion of a train           Record         -> TrainRound
//! scaled_down     whether a version has too few pods for the users who come back to it
//! error           why there is no record, or no change of it
//! ```

mod carried_out;
mod error;
mod expiry;
mod history;
mod names;
mod operation;
mod pause;
mod recover;
mod recover_versions;
mod release_record;
mod role_change;
mod rollout;
mod scaled_down;
mod seal;
mod service_ref;
mod train_round;

pub use carried_out::{CARRIED_OUT_BY, CONTROLLER};
pub use error::Error;
pub use expiry::Expiry;
pub use history::{Author, History, HistoryEntry};
pub use operation::Operation;
pub use pause::Pause;
pub use recover::{RecoverError, RecoveryScope, recover};
pub(crate) use release_record::FORMAT;
pub use release_record::{OwnedObject, Proxies, Record, proxies};
pub use role_change::{RoleChange, RoleChangeKind, RollbackTarget, drains_for, ends_after};
pub use seal::{RecordFault, RecordKeys, RecordSeals, RecordTrust, SealContext};
pub use service_ref::ServiceRef;
pub use train_round::{PromotionState, TrainRound};
