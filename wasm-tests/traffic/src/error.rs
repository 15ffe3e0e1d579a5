//! Why a scenario cannot be simulated.

use crate::scenario::PlanStep;
use canary_release::file;
use canary_release::rollout::VerbError;

/// A scenario is wrong, or the product refuses its release.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The release of the scenario has faults.
    #[error(transparent)]
    File(#[from] file::Error),
    /// Its rollout does not start.
    #[error(transparent)]
    Start(#[from] VerbError),
    /// A step has no weight that could be set.
    #[error("expected a step of 0 to 100 %, found {0:?}")]
    Step(PlanStep),
}
