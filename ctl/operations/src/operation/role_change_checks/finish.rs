//! The checks of the end of a drain.

use crate::{Cluster, Error, StoredRecord};
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::{Author, Record};
use canary_release::spec::ReleaseName;
use jiff::Timestamp;

/// The end of a drain whose checks have passed; [`Cluster::finish`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedFinish {
    pub(crate) release: ReleaseName,
    pub(crate) stored: StoredRecord,
    pub(crate) versions: Vec<String>,
    early: Vec<String>,
}

impl CheckedFinish {
    /// The versions whose drain ends.
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// A message for each version whose drain has not reached its deadline.
    pub fn early(&self) -> &[String] {
        &self.early
    }

    /// The record before, with the version by which it is written.
    pub const fn stored(&self) -> &StoredRecord {
        &self.stored
    }

    /// The record as it would be in the end.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        record.finish(&self.versions, Author::of_a_preview(Timestamp::now()));
        record.leaving.clear();
        record
    }
}

impl Cluster {
    /// Checks the end of all drains: their deadlines have passed.
    ///
    /// # Errors
    ///
    /// If a version drains until a later moment, unless the check is skipped.
    pub fn check_finish(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        skipped: &[PreflightCheck],
    ) -> Result<CheckedFinish, Error> {
        stored.ensure_trusted(release)?;
        let (versions, early) = (stored.record.draining_versions(), early(&stored.record, Timestamp::now()));
        for (message, deadline) in &early {
            let alternative = Alternative::WaitUntil { time: *deadline };
            PreflightCheck::MovesUsers.refuse(skipped, message, alternative)?;
        }
        let early = early.into_iter().map(|(message, _)| message).collect();
        Ok(CheckedFinish { release: release.clone(), stored, versions, early })
    }
}

/// A message for each version whose drain has not reached its deadline, and that.
fn early(record: &Record, now: Timestamp) -> Vec<(String, Timestamp)> {
    let versions = record.draining_versions().into_iter().filter(|version| !record.is_overdue(version, now));
    let message = |version: String| {
        let deadline = record.draining.get(&version).copied().unwrap_or(now);
        (format!("`{version}` drains until {deadline:.0}: its sessions would lose their state"), deadline)
    };
    versions.map(message).collect()
}
