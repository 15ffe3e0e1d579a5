//! A call of a hook, and what became of it.

use super::HookPayload;
use crate::spec::RolloutHook;
use jiff::Timestamp;

/// A call that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRequest {
    /// Which hook.
    pub hook: RolloutHook,
    /// The payload.
    pub payload: HookPayload,
    /// When the step began that it is about.
    pub step_since: Timestamp,
}

/// The error of a hook. Its text has no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct HookError {
    /// Why.
    pub reason: String,
    /// Whether a response says so: a gate is closed, a test has failed.
    pub is_response: bool,
    /// Whether the same call would meet the same again.
    pub is_final: bool,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResult {
    /// The name of the hook.
    pub hook: String,
    /// When the step began that it is about. In another step it says nothing.
    pub step_since: Timestamp,
    /// When the driver has learned of it.
    pub at: Timestamp,
    /// Whether the response has a status of 2xx.
    pub result: Result<(), HookError>,
}

impl HookError {
    /// No response, for a reason that may be gone later.
    pub fn no_response(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_response: false, is_final: false }
    }
}
