//! The releases of a train, by their records: each names its train since it was last applied; and the roles of all of them, one after the other.
//!
//! ```text
//! members    the releases in the order of promotion                name           -> Train
//! inside     whether they have canaries when one is promoted by itself  Record   -> check
//! checked    operations that have passed their checks, one after the other       CheckedTrain   -> TrainChanged
//! promotion  each release before its callers                       PromoteOptions -> TrainChanged
//! finish     the end of their drains, in reverse                   checks         -> TrainChanged
//! rollback   in reverse                                            RollbackOptions -> TrainChanged
//! step       what was done with each
//! ```

mod checked;
mod finish;
mod inside;
mod members;
mod promotion;
mod rollback;
mod step;

pub use checked::CheckedTrain;
pub use finish::CheckedTrainFinish;
pub use members::{Train, TrainRelease};
pub use promotion::CheckedTrainPromotion;
pub use rollback::CheckedTrainRollback;
pub use step::{LeftReason, TrainChange, TrainChanged, TrainStep};

use crate::stores::releases::{FoundRelease, found_release};
use crate::{Cluster, Error};
use canary_release::state::TRAIN_LABEL;

impl Cluster {
    /// The releases of a train in these namespaces, sorted by name. Without one those of all namespaces or, if the user may not list the
    /// `ConfigMap`s in all, of those namespaces in which they may. Whether sidecars alone serve one is in its record
    /// (`canary_release::state::TrainMember`). One that was applied last by a version of this library that knew no trains is not found.
    ///
    /// # Errors
    ///
    /// If records may not be listed in a given namespace, or in none.
    pub async fn train_releases(
        &self,
        train: &str,
        namespaces: &[String],
    ) -> Result<Vec<FoundRelease>, Error> {
        let found = self.records.list_objects(namespaces, &selector(train)).await?;
        Ok(found.into_iter().map(|(name, object)| found_release(name, &object)).collect())
    }
}

fn selector(train: &str) -> String {
    format!(",{TRAIN_LABEL}={train}")
}
