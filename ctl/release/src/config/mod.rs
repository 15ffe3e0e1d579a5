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
    Contract(#[source] ContractError),
    /// Two releases of one proxy have a host and a path in common.
    #[error(
        "expected a host and a path that one release has, found `{host}` in `{release}` and in `{other}`"
    )]
    HostTaken {
        /// Host and path.
        host: String,
        /// The first release.
        release: String,
        /// The second release.
        other: String,
    },
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

impl From<ContractError> for Error {
    fn from(error: ContractError) -> Self {
        match error {
            ContractError::HostTaken { release, host, other } => Self::HostTaken { host, release, other },
            other => Self::Contract(other),
        }
    }
}
