//! The current state of a release, as data: what its proxies decide by, and what its record keeps of a change.
//!
//! ```text
//! release_state  versions, weight, generation                       Release     -> ReleaseState
//! version_roles  the version of each role, and the changes of roles
//! train_member   the place of a release in its train            Release     -> TrainMember
//! scaled_down    a version with too few pods                        ready pods  -> ScaledDown
//! undersized     a canary with too few pods for all users           ready pods  -> Undersized
//! ```

mod release_state;
mod scaled_down;
mod train_member;
mod undersized;
mod version_roles;

pub use release_state::{ReleaseState, new_uid};
pub use scaled_down::ScaledDown;
pub use train_member::{TRAIN_LABEL, TrainMember};
pub use undersized::Undersized;
