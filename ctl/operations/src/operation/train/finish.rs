//! Ends the drains of the releases of a train, in the reverse order of promotion: sessions of an old caller call the old version of what it calls.

use super::checked::{CheckedStep, CheckedTrain};
use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainRelease, TrainStep};
use crate::{CheckedFinish, Cluster, Error, WaitOptions};
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Author, Record};
use canary_release::spec::ReleaseName;
use jiff::Timestamp;

/// The end of the drains of a train whose checks have passed; [`Cluster::finish_train`] carries it out.
pub type CheckedTrainFinish<'a> = CheckedTrain<&'a [PreflightCheck], CheckedFinish>;

impl Cluster {
    /// Checks the end of all drains of a train: their deadlines have passed, and no route of others leads to a version that goes.
    ///
    /// # Errors
    ///
    /// If a check of one refuses; the error names the release.
    pub async fn check_train_finish<'a>(
        &self,
        train: &Train,
        skipped: &'a [PreflightCheck],
    ) -> Result<CheckedTrainFinish<'a>, Error> {
        let mut steps = Vec::new();
        for TrainRelease { name, stored } in train.releases.iter().rev() {
            let step = if drains(&stored.record) {
                let checked = about(name, self.check_finish(name, stored.clone(), skipped))?;
                let mut after = stored.record.clone();
                after.finish(checked.versions(), Author::of_a_preview(Timestamp::now()));
                about(name, self.protect_routes(name, &after).await)?;
                CheckedStep::Change(checked)
            } else {
                CheckedStep::Leave(LeftReason::NothingDrains)
            };
            steps.push((name.clone(), step));
        }
        Ok(CheckedTrain::new(skipped, steps))
    }

    /// The last check of the end of the drains of a train: each proxy can be asked. Reads only.
    ///
    /// # Errors
    ///
    /// If it refuses; the error names the release.
    pub async fn check_train_finish_begins(&self, checked: &CheckedTrainFinish<'_>) -> Result<(), Error> {
        for (release, finish) in checked.changes() {
            about(release, self.check_finish_begins(finish).await)?;
        }
        Ok(())
    }

    /// Ends the drains of a train, those of a release when those of its callers have ended in every proxy. `told` is called with each step.
    ///
    /// # Errors
    ///
    /// Before the first write if a proxy of any release cannot be asked. Later as [`Cluster::finish`] of one release; the error names it, and the same
    /// call goes on.
    pub async fn finish_train(
        &self,
        checked: CheckedTrainFinish<'_>,
        waiting: &mut WaitOptions<'_>,
        told: &mut dyn FnMut(&TrainStep),
    ) -> Result<TrainChanged, Error> {
        self.check_train_finish_begins(&checked).await?;
        let skipped = checked.options;
        let finish = async |release: &ReleaseName, mut finish: CheckedFinish, is_outdated| {
            if is_outdated {
                finish = self.check_finish(release, self.records.get(release).await?, skipped)?;
            }
            Ok(TrainChange::Changed(Box::new(Box::pin(self.finish(finish, waiting)).await?)))
        };
        checked.carry_out(told, finish).await
    }
}

fn drains(record: &Record) -> bool {
    !record.draining_versions().is_empty() || !record.leaving.is_empty()
}
