//! Why an alert was not accepted.

use crate::Error;
use std::fmt;

/// The error of an alert that was not accepted. Its text has no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SendError {
    /// Why.
    pub reason: String,
    /// Whether the same would be refused again.
    pub is_final: bool,
}

/// An alert that was sent and not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedDelivery {
    /// The id of the alert.
    pub id: String,
    /// The name of the recipient.
    pub to: String,
    /// Why.
    pub error: SendError,
}

impl SendError {
    /// One that may be gone later.
    pub fn later(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: false }
    }

    /// One that the same request meets again.
    pub fn last(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: true }
    }
}

impl From<Error> for SendError {
    fn from(error: Error) -> Self {
        let is_final = !error.is_transient();
        Self { reason: error.to_string(), is_final }
    }
}

impl fmt::Display for FailedDelivery {
    /// `alert shopshopshop-1-3 to ops: 503 Service Unavailable`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, to, error } = self;
        write!(f, "alert {id} to {to}: {error}")
    }
}
