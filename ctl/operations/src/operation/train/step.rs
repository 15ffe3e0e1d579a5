//! What became of the releases of a train: each step is about one of them, and begins when the step before has arrived in every proxy.

use crate::{Cluster, Error, RoleChanged, StoredRecord};
use canary_release::record::RoleChange;
use canary_release::spec::ReleaseName;
use std::fmt;

/// A step of a train's release.
#[derive(Debug)]
pub struct TrainStep {
    /// The release.
    pub release: ReleaseName,
    /// The change.
    pub change: TrainChange,
}

/// Whether the roles of a release were changed.
#[derive(Debug)]
pub enum TrainChange {
    /// They were, or what a call had left to write was written.
    Changed(Box<RoleChanged>),
    /// It was left as it is.
    Left(LeftReason),
}

/// The reason for which a release of a train is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftReason {
    /// This version is promoted.
    Promoted(String),
    /// Its canary, or its promotion, is rolled back.
    RolledBack,
    /// It has no canary.
    NoCanary,
    /// It was promoted by itself, or with another canary of the train.
    PromotedApart(RoleChange),
    /// No version of it drains.
    NothingDrains,
}

impl fmt::Display for LeftReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promoted(version) => write!(f, "`{version}` is promoted already"),
            Self::RolledBack => f.write_str("it is rolled back already"),
            Self::NoCanary => f.write_str("it has no canary"),
            Self::PromotedApart(change) => write!(f, "{change}, and not with this canary of the train"),
            Self::NothingDrains => f.write_str("no version of it drains"),
        }
    }
}

/// The result of a train's change.
#[derive(Debug, Default)]
pub struct TrainChanged {
    /// Its releases in the order in which they were changed.
    pub steps: Vec<TrainStep>,
    /// Those that were not begun, because the last step has not arrived in every proxy.
    pub not_begun: Vec<ReleaseName>,
}

impl TrainChanged {
    /// Adds a step, and tells of it.
    pub(super) fn add(
        &mut self,
        (release, change): (ReleaseName, TrainChange),
        told: &mut dyn FnMut(&TrainStep),
    ) {
        let step = TrainStep { release, change };
        told(&step);
        self.steps.push(step);
    }

    /// Whether something was written: what was read of later releases may be outdated.
    pub(super) fn has_written(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.change, TrainChange::Changed(_)))
    }
}

pub(super) fn about<T>(release: &ReleaseName, result: Result<T, Error>) -> Result<T, Error> {
    result.map_err(|error| Error::InTrain { release: release.to_string(), source: Box::new(error) })
}

impl Cluster {
    /// Whether every object has the state of a record.
    pub(super) async fn is_complete(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<bool, Error> {
        Ok(stored.record.leaving.is_empty() && self.unfinished(release, &stored.record).await?.is_empty())
    }
}
