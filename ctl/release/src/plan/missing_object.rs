//! An object of a release that does not exist, and whether it was deleted or never written.
//!
//! The record is written before the objects, so it names some that do not exist yet while an operation is under way.

use crate::delivery::deployed_config;
use crate::object::{Reference, Stage};
use crate::record::{OwnedObject, Record};
use assignment::Weight;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// An object that the record names and that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} is missing: {cause}")]
pub struct MissingObject {
    /// Its purpose.
    pub stage: Stage,
    /// The object.
    pub object: Reference,
    /// The cause of its absence.
    pub cause: MissingCause,
}

/// The cause for which an object does not exist, as far as record and objects say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingCause {
    /// It was written, and deleted since.
    Deleted,
    /// The record says that an operation is under way, which would write it.
    NotWritten,
    /// The first operation of the release may not have written it.
    Unknown,
}

impl fmt::Display for MissingCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "it was deleted",
            Self::NotWritten => "an operation was interrupted before it was written",
            Self::Unknown => "it was deleted, or the installation was interrupted before it was written",
        })
    }
}

impl MissingObject {
    /// An object of a release that is not among the observed ones.
    pub(crate) fn of(
        release: &str,
        record: &Record,
        (stage, object): (Stage, &Reference),
        observed: &BTreeMap<Reference, Value>,
    ) -> Self {
        let cause = if is_followed(record, stage, observed) {
            MissingCause::Deleted
        } else if is_under_way(release, record, observed) {
            MissingCause::NotWritten
        } else if has_had_routes(record) {
            MissingCause::Deleted
        } else {
            MissingCause::Unknown
        };
        Self { stage, object: object.clone(), cause }
    }
}

/// The objects of a release that do not exist, but for modules of a rollout, which exist only as long as it goes on.
pub fn missing_objects(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Vec<MissingObject> {
    let is_missing =
        |(stage, object): &&OwnedObject| *stage != Stage::ModuleBackup && !observed.contains_key(object);
    let missing = record.objects.iter().filter(is_missing);
    missing.map(|(stage, object)| MissingObject::of(release, record, (*stage, object), observed)).collect()
}

/// Whether an object exists that is written after those of this stage. Objects of others exist before ours.
fn is_followed(record: &Record, stage: Stage, observed: &BTreeMap<Reference, Value>) -> bool {
    let follows = |later: Stage| match stage {
        Stage::Subsets => later.is_route(),
        Stage::Configuration | Stage::Filter | Stage::Runtime => later.is_route() || later == Stage::Subsets,
        Stage::Routes | Stage::Edits | Stage::ModuleBackup => false,
    };
    stage == Stage::Edits
        || record.objects.iter().any(|(later, object)| follows(*later) && observed.contains_key(object))
}

/// Whether the record says that an operation is under way, or a configuration has another generation than the record.
fn is_under_way(release: &str, record: &Record, observed: &BTreeMap<Reference, Value>) -> bool {
    let is_behind = |object: &Reference| {
        let config = observed.get(object).and_then(|body| deployed_config(body).ok().flatten());
        let deployed = config.and_then(|config| config.releases.get(release).map(|entry| entry.generation));
        deployed.is_some_and(|generation| generation != record.state.generation)
    };
    record.initial_weight.is_some() || record.config_objects().any(is_behind)
}

/// Whether users were sent to the canary, or roles have changed: neither is done before the routes exist.
fn has_had_routes(record: &Record) -> bool {
    record.role_change.is_some()
        || record.history.entries().iter().any(|entry| entry.from > Weight::ZERO || entry.to > Weight::ZERO)
}
