//! What was done to a release, the oldest first: the same words in a cluster's record and in a local state.

use super::Standing;
use assignment::Weight;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The entries that are kept: more than anybody reads, and still small beside the rest of a ConfigMap.
const MOST: usize = 100;

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
    /// The verb that did it.
    pub why: String,
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

    /// Adds what has made the present standing, and forgets the oldest where there are too many.
    pub fn note(&mut self, standing: &Standing, by: &str, from: Weight, why: &str) {
        let surplus = (self.0.len() + 1).saturating_sub(MOST);
        self.0.drain(..surplus);
        self.0.push(HistoryEntry {
            at: jiff::Timestamp::now(),
            by: by.to_owned(),
            generation: standing.generation,
            from,
            to: standing.weight,
            why: why.to_owned(),
        });
    }
}

impl fmt::Display for HistoryEntry {
    /// `alice: weight 0% -> 20% (generation 4) at 2026-11-21T14:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, by, generation, from, to, why } = self;
        let at = at.strftime("%Y-%m-%dT%H:%M:%SZ");
        write!(f, "{by}: {why} {from} -> {to} (generation {generation}) at {at}")
    }
}
