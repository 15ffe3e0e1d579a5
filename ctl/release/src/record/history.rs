//! What was done to a release, the oldest first: the same words in a cluster's record and in a local state.

use super::Operation;
use crate::state::ReleaseState;
use assignment::Weight;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of entries that are kept: small beside the rest of a ConfigMap.
const MAX_ENTRIES: usize = 100;

/// The author of a change, and its time: a record has no clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Author<'a> {
    /// The user, as the API server or the operating system names them.
    pub name: &'a str,
    /// The time of the change; of a driver the time of its observation, which is a few seconds earlier.
    pub at: jiff::Timestamp,
}

impl<'a> Author<'a> {
    /// This user, at this time.
    pub const fn new(name: &'a str, at: jiff::Timestamp) -> Self {
        Self { name, at }
    }

    /// The author of a change that is shown and not written.
    pub const fn of_a_preview(at: jiff::Timestamp) -> Self {
        Self::new("", at)
    }
}

/// The last changes of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<HistoryEntry>);

/// One change of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HistoryEntry {
    /// When.
    pub at: jiff::Timestamp,
    /// Who, as the API server or the operating system names them.
    pub by: String,
    /// The generation that it made.
    pub generation: u64,
    /// The weight before, in basis points.
    pub from: Weight,
    /// The weight after, in basis points.
    pub to: Weight,
    /// The operation that did it.
    pub operation: Operation,
    /// The operator's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl History {
    /// The entries, the oldest first.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.0
    }

    /// The latest entry.
    pub fn last(&self) -> Option<&HistoryEntry> {
        self.0.last()
    }

    /// The highest weight of the canary since the roles of versions changed last.
    pub fn peak_weight(&self) -> Weight {
        let is_of_roles = |entry: &&HistoryEntry| {
            matches!(entry.operation, Operation::Promote | Operation::Rollback | Operation::Uninstall)
        };
        let since = self.0.iter().rev().take_while(|entry| !is_of_roles(entry));
        since.flat_map(|entry| [entry.from, entry.to]).max().unwrap_or(Weight::ZERO)
    }

    /// Appends the operation that has made the present state. Drops the oldest entry beyond the limit.
    pub fn append(&mut self, state: &ReleaseState, by: Author<'_>, from: Weight, operation: Operation) {
        let surplus = (self.0.len() + 1).saturating_sub(MAX_ENTRIES);
        self.0.drain(..surplus);
        self.0.push(HistoryEntry {
            at: by.at,
            by: by.name.to_owned(),
            generation: state.generation,
            from,
            to: state.weight,
            operation,
            reason: None,
        });
    }

    /// Gives the latest entry a reason.
    pub(super) fn explain(&mut self, reason: Option<String>) {
        if let Some(last) = self.0.last_mut() {
            last.reason = reason;
        }
    }
}

impl fmt::Display for HistoryEntry {
    /// `alice: weight 0% -> 20% (generation 4) at 2026-11-21T14:00:00Z`, and `alice: pause, weight 20% (generation 4) at …` where
    /// the weight is the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, by, generation, from, to, operation, reason } = self;
        let at = at.strftime("%Y-%m-%dT%H:%M:%SZ");
        let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        write!(f, "{by}: {operation}{reason}")?;
        match (from == to, operation) {
            (false, _) => write!(f, " {from} -> {to}")?,
            (true, Operation::Weight) => write!(f, " {to}")?,
            (true, _) => write!(f, ", weight {to}")?,
        }
        write!(f, " (generation {generation}) at {at}")
    }
}
