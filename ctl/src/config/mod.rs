//! From a release and its state to what the filter reads: the only place where `canary.yaml` meets the contract.

mod cookies;
mod filter;
mod history;
mod keys;
mod role_change;
mod rotation;
mod state;

pub use filter::{ProxySettings, acceptable, filter_config, release_config};
pub use history::{History, HistoryEntry};
pub use keys::{KeyError, KeyRing};
pub use state::{Standing, new_uid};

use assignment::contract::ContractError;

/// Why no configuration of the filter can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The filter would refuse it.
    #[error("the filter would refuse this configuration")]
    Contract(#[from] ContractError),
    /// Releases of one proxy disagree about what the proxy has once.
    #[error("releases that share a proxy must agree: `{first}` and `{second}` have other {what}")]
    Disagree {
        /// One release.
        first: String,
        /// Another.
        second: String,
        /// What they disagree about.
        what: &'static str,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The system has no randomness.
    #[error("cannot draw random numbers")]
    Random(#[from] getrandom::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Contract(error) => error.hint().map(str::to_owned),
            Self::Disagree { what, .. } => Some(format!("give them the same {what}")),
            Self::Keys(error) => error.hint(),
            Self::Random(_) => None,
        }
    }
}
