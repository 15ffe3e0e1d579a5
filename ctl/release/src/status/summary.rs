//! A release in one line, from its record alone: no proxy, no pod and no object is asked.

use crate::record::{Record, RecordTrust};
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// The summary of a record at a moment. Weights in basis points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseSummary {
    /// The stable version.
    pub stable: String,
    /// The canary, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// The versions that drain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draining: Vec<String>,
    /// The desired weight.
    pub weight: Weight,
    /// The weight in force: 0 after an expiry.
    pub effective: Weight,
    /// The generation.
    pub generation: u64,
    /// Its unusual conditions, the most urgent first.
    pub conditions: Vec<Condition>,
}

/// Something unusual that a record says.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Condition {
    /// There is no record: this is what the objects say.
    NoRecord,
    /// The record is shown and not obeyed.
    RefusedRecord {
        /// The fault.
        fault: String,
    },
    /// The seals of the record could not be checked.
    UnverifiedRecord,
    /// A user has paused the release.
    Paused {
        /// The user.
        by: String,
    },
    /// A new module was not seen in every proxy.
    ModuleRollout,
    /// The weight has expired.
    WeightExpired,
    /// The drain deadline of a version has passed.
    DrainOverdue { version: String },
    /// Routes and subset of a version that is gone remain.
    NotPruned { version: String },
}

impl ReleaseSummary {
    /// With the trust in the record, as its first condition.
    #[must_use]
    pub fn with_trust(mut self, trust: &RecordTrust) -> Self {
        let condition = match trust {
            RecordTrust::Genuine => None,
            RecordTrust::Absent => Some(Condition::NoRecord),
            RecordTrust::Refused(fault) => Some(Condition::RefusedRecord { fault: fault.to_string() }),
            RecordTrust::Unverified(_) => Some(Condition::UnverifiedRecord),
        };
        self.conditions.splice(0..0, condition);
        self
    }

    /// Of a record at a moment.
    pub fn of(record: &Record, now: Timestamp) -> Self {
        let state = &record.state;
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let version = |role| state.version_of(role).map(str::to_owned);
        Self {
            stable: version(Role::Stable).unwrap_or_default(),
            canary: version(Role::Canary),
            draining: record.draining_versions(),
            weight: state.weight,
            effective: state.weight_at(seconds),
            generation: state.generation,
            conditions: conditions(record, now),
        }
    }
}

fn conditions(record: &Record, now: Timestamp) -> Vec<Condition> {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let mut found: Vec<Condition> =
        record.paused.iter().map(|pause| Condition::Paused { by: pause.by.clone() }).collect();
    found.extend(record.module_rollout.iter().map(|_| Condition::ModuleRollout));
    let state = &record.state;
    if state.weight > Weight::ZERO && state.weight_at(seconds) == Weight::ZERO {
        found.push(Condition::WeightExpired);
    }
    let overdue = record.draining_versions().into_iter().filter(|version| record.is_overdue(version, now));
    found.extend(overdue.map(|version| Condition::DrainOverdue { version }));
    found.extend(record.leaving.iter().map(|version| Condition::NotPruned { version: version.clone() }));
    found
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRecord => f.write_str("no record"),
            Self::RefusedRecord { fault } => write!(f, "record not obeyed: {fault}"),
            Self::UnverifiedRecord => f.write_str("seals not checked"),
            Self::Paused { by } => write!(f, "paused by {by}"),
            Self::ModuleRollout => f.write_str("module rollout not finished"),
            Self::WeightExpired => f.write_str("weight expired"),
            Self::DrainOverdue { version } => write!(f, "drain of {version} overdue"),
            Self::NotPruned { version } => write!(f, "{version} not pruned"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::load;
    use crate::record::{Author, Operation};
    use crate::state::ReleaseState;
    use assignment::contract::{ExpiryAction, Until};
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn an_expired_weight_is_listed_as_asked_and_as_in_force_with_what_is_unusual() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        let until = Until { at_seconds: 1_000, action: ExpiryAction::Stop };
        record.set_weight(
            "20".parse().unwrap(),
            Some(until),
            Author::new("ada", Timestamp::now()),
            Operation::Weight,
        );
        record.pause(Author::new("bob", Timestamp::now()), None);
        let at = |second| ReleaseSummary::of(&record, Timestamp::from_second(second).unwrap());
        assert_eq!((at(999).effective, at(999).conditions.len()), ("20".parse().unwrap(), 1));
        let expected = json!({"stable": "v1", "canary": "v2", "weight": 2000, "effective": 0, "generation": 2,
            "conditions": [{"type": "paused", "by": "bob"}, {"type": "weightExpired"}]});
        assert_eq!(serde_json::to_value(at(1_000)).unwrap(), expected);
    }
}
