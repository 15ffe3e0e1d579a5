//! Something that a person should look at.

use serde::Serialize;

/// Something that a person should look at, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: String,
}

pub(super) fn problem(message: impl Into<String>, hint: impl Into<String>) -> Problem {
    Problem { message: message.into(), hint: hint.into() }
}
