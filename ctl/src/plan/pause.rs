//! A pause: who has stopped a release from changing, when, and why.

use super::Record;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A release that nobody but its pauser changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pause {
    /// Since when.
    pub at: jiff::Timestamp,
    /// Who, as the API server knows them.
    pub by: String,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Record {
    /// Pauses the release, or gives its pause to somebody else. Weight and proxies stay as they are.
    pub fn pause(&mut self, by: &str, why: Option<String>) {
        let verb = why.as_ref().map_or_else(|| "pause".to_owned(), |why| format!("pause ({why})"));
        self.paused = Some(Pause { at: jiff::Timestamp::now(), by: by.to_owned(), why });
        self.note(by, self.standing.weight, &verb);
    }

    /// Ends a pause. Does nothing where there is none.
    pub fn resume(&mut self, by: &str) {
        if self.paused.take().is_some() {
            self.note(by, self.standing.weight, "resume");
        }
    }
}

impl fmt::Display for Pause {
    /// `` `alice` since 2026-11-21T14:00:00Z: the p99 looks odd ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` since {}", self.by, self.at.strftime("%Y-%m-%dT%H:%M:%SZ"))?;
        self.why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}
