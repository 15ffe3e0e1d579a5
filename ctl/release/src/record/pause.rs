//! A pause: by which user a release was paused, when, and why.

use super::{Author, Operation, Record};
use serde::{Deserialize, Serialize};
use std::fmt;

/// While a release is paused, only its pauser can change it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pause {
    /// Since when.
    pub at: jiff::Timestamp,
    /// The user name, as the API server authenticates it.
    pub by: String,
    /// The operator's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Record {
    /// Pauses the release, or transfers its pause to another user. Weight and proxies stay unchanged.
    pub fn pause(&mut self, by: Author<'_>, reason: Option<String>) {
        self.append_history(by, self.state.weight, Operation::Pause);
        self.history.explain(reason.clone());
        self.paused = Some(Pause { at: by.at, by: by.name.to_owned(), reason });
    }

    /// Ends a pause. Does nothing if there is none.
    pub fn resume(&mut self, by: Author<'_>) {
        if self.paused.take().is_some() {
            self.append_history(by, self.state.weight, Operation::Resume);
        }
    }
}

impl fmt::Display for Pause {
    /// `` `alice` since 2026-11-21T14:00:00Z: the p99 looks odd ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` since {}", self.by, self.at.strftime("%Y-%m-%dT%H:%M:%SZ"))?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}
