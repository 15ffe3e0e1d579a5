//! Rolls the releases of a train back, in the reverse order of promotion: no new user may come to the new caller when the new version of what it calls goes.
//!
//! Between two steps sessions that finish on a promoted caller call the version of the called release that drains, which is the old one: roles travel, and no
//! order of two role changes avoids it. In the other order new users of the caller would call it, too. Where sessions end at once there are none.

use super::checked::{CheckedStep, CheckedTrain};
use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainRelease, TrainStep};
use crate::{CheckedRollback, Cluster, Error, RollbackOptions, StoredRecord, WaitOptions};
use canary_release::record::{PromotionState, RollbackTarget};
use canary_release::spec::ReleaseName;

/// The rollback of a train whose checks have passed; [`Cluster::roll_train_back`] carries it out.
pub type CheckedTrainRollback<'a> = CheckedTrain<RollbackOptions<'a>, CheckedRollback>;

impl Cluster {
    /// Checks the rollback of each release of a train: its canaries, and the promotions that were made with them.
    ///
    /// # Errors
    ///
    /// If a check of one refuses, the version before one has left, or there is nothing to roll back; the error names the release.
    pub async fn check_train_rollback<'a>(
        &self,
        train: &Train,
        options: RollbackOptions<'a>,
    ) -> Result<CheckedTrainRollback<'a>, Error> {
        let round = train.round();
        let round_name = round.as_ref().map(|round| round.name().to_owned());
        let mut steps = Vec::new();
        for TrainRelease { name, stored } in train.releases.iter().rev() {
            let record = &stored.record;
            let is_included = round.as_ref().is_some_and(|round| round.includes(record));
            let step = match (record.promotion_state(), &record.role_change) {
                (PromotionState::NoCanary, _) => CheckedStep::Leave(LeftReason::NoCanary),
                (PromotionState::Promoted(_), Some(change)) if !is_included => {
                    CheckedStep::Leave(LeftReason::PromotedApart(change.clone()))
                }
                _ => {
                    let checked = self.check_rollback_step(name, stored.clone(), options).await;
                    CheckedStep::Change(about(name, checked)?.in_train(round_name.clone()))
                }
            };
            steps.push((name.clone(), step));
        }
        let checked = CheckedTrain::new(options, steps);
        if checked.changes().next().is_none() {
            return Err(train.nothing_to_do());
        }
        Ok(checked)
    }

    async fn check_rollback_step(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: RollbackOptions<'_>,
    ) -> Result<CheckedRollback, Error> {
        let checked = Box::pin(self.check_rollback(release, stored, options)).await?;
        if *checked.target() != RollbackTarget::Done {
            let mut after = checked.stored.clone();
            after.record = checked.preview();
            self.check_config_update(release, &after).await?;
        }
        Ok(checked)
    }

    /// Rolls the releases of a train back, each when the one before has arrived in every proxy. One that was rolled back already is left as it is.
    /// `told` is called with each step.
    ///
    /// # Errors
    ///
    /// As [`Cluster::roll_back`] of one release; the error names it, and the same call goes on. That a step is not seen in every proxy is none: the
    /// releases after it are not begun.
    pub async fn roll_train_back(
        &self,
        checked: CheckedTrainRollback<'_>,
        waiting: &mut WaitOptions<'_>,
        told: &mut dyn FnMut(&TrainStep),
    ) -> Result<TrainChanged, Error> {
        let options = checked.options;
        let roll_back = async |release: &ReleaseName, mut rollback: CheckedRollback, is_outdated| {
            if is_outdated {
                let stored = self.records.get(release).await?;
                let again = self.check_rollback_step(release, stored, options).await?;
                rollback = again.in_train(rollback.train_round);
            }
            Box::pin(self.roll_back_in_train(release, rollback, waiting)).await
        };
        checked.carry_out(told, roll_back).await
    }

    async fn roll_back_in_train(
        &self,
        release: &ReleaseName,
        checked: CheckedRollback,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<TrainChange, Error> {
        let is_done = *checked.target() == RollbackTarget::Done;
        if is_done && self.is_complete(release, &checked.stored).await? {
            self.wait(release, checked.record(), waiting).await?;
            return Ok(TrainChange::Left(LeftReason::RolledBack));
        }
        Ok(TrainChange::Changed(Box::new(self.roll_back(checked, waiting).await?)))
    }
}
