//! The local target: one Envoy on this machine, steered by files.

/// Why the local target cannot be steered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The release is not delivered to a local Envoy.
    #[error("expected a release with `delivery.mode: local`")]
    NotLocal,
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }
}
