//! From a release and its state to what the filter reads: the only place where `canary.yaml` meets the contract.

mod cookies;
mod disagreement;
mod filter;
mod keys;
mod rotation;

pub use disagreement::{Disagreement, REVISION_FIELD};
pub(crate) use disagreement::{optional, quoted};
pub use filter::{ProxySettings, acceptable, filter_config, release_config};
pub use keys::{KeyError, SigningKeys};

use assignment::contract::ContractError;

/// The reason for which no configuration of the filter can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The filter would refuse it.
    #[error("the filter would refuse this configuration")]
    Contract(#[from] ContractError),
    /// Releases of one proxy disagree about what the proxy has once.
    #[error("releases that share a proxy must agree: {0}")]
    Disagree(Box<Disagreement>),
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The system has no randomness.
    #[error("cannot draw random numbers")]
    Random(#[from] getrandom::Error),
}
