//! Rolls the releases of a train back, in the reverse order of promotion: no new user may come to the new caller when the new version of what it calls goes.
//!
//! Between two steps sessions that finish on a promoted caller call the version of the called release that drains, which is the old one: roles travel, and no
//! order of two role changes avoids it. In the other order new users of the caller would call it, too. Where sessions end at once there are none.

use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainStep};
use crate::{CheckedRollback, Cluster, Error, RollbackOptions, StoredRecord, WaitOptions};
use canary_release::record::RollbackTarget;
use canary_release::spec::ReleaseName;
use canary_release::train::PromotionState;

/// The rollback of a train whose checks have passed; [`Cluster::roll_train_back`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedTrainRollback<'a> {
    round: String,
    options: RollbackOptions<'a>,
    steps: Vec<(ReleaseName, RollbackStep)>,
}

#[derive(Clone, Debug)]
enum RollbackStep {
    RollBack(Box<CheckedRollback>),
    Leave(LeftReason),
}

impl CheckedTrainRollback<'_> {
    /// The releases that are rolled back, in this order, and those that were rolled back already.
    pub fn rollbacks(&self) -> impl Iterator<Item = (&ReleaseName, &CheckedRollback)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            RollbackStep::RollBack(checked) => Some((release, checked.as_ref())),
            RollbackStep::Leave(_) => None,
        })
    }

    /// The releases that are left as they are, and why.
    pub fn left(&self) -> impl Iterator<Item = (&ReleaseName, &LeftReason)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            RollbackStep::Leave(reason) => Some((release, reason)),
            RollbackStep::RollBack(_) => None,
        })
    }
}

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
        let mut steps = Vec::new();
        for release in train.releases.iter().rev() {
            let (name, record) = (&release.name, &release.stored.record);
            let is_included = round.as_ref().is_some_and(|round| round.includes(record));
            let step = match (record.promotion_state(), &record.role_change) {
                (PromotionState::NoCanary, _) => RollbackStep::Leave(LeftReason::NoCanary),
                (PromotionState::Promoted(_), Some(change)) if !is_included => {
                    RollbackStep::Leave(LeftReason::PromotedApart(change.clone()))
                }
                _ => {
                    let checked = self.check_train_rollback_step(name, release.stored.clone(), options).await;
                    RollbackStep::RollBack(Box::new(about(name, checked)?))
                }
            };
            steps.push((name.clone(), step));
        }
        let round = round.map(|round| round.name().to_owned()).unwrap_or_default();
        let checked = CheckedTrainRollback { round, options, steps };
        if checked.rollbacks().next().is_none() {
            return Err(train.nothing_to_do());
        }
        Ok(checked)
    }

    async fn check_train_rollback_step(
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
        let CheckedTrainRollback { round, options, steps } = checked;
        let mut changed = TrainChanged::default();
        let mut steps = steps.into_iter();
        while let Some((release, step)) = steps.next() {
            let change = match step {
                RollbackStep::Leave(reason) => TrainChange::Left(reason),
                RollbackStep::RollBack(mut rollback) => {
                    if changed.has_written() {
                        let stored = about(&release, self.records.get(&release).await)?;
                        let again = self.check_train_rollback_step(&release, stored, options).await;
                        *rollback = about(&release, again)?;
                    }
                    let done = self.roll_back_in_train(&release, rollback.in_train(&round), waiting);
                    about(&release, Box::pin(done).await)?
                }
            };
            let is_late = matches!(&change, TrainChange::Changed(changed) if changed.not_observed.is_some());
            changed.add((release, change), told);
            if is_late {
                changed.not_begun = steps.map(|(release, _)| release).collect();
                break;
            }
        }
        Ok(changed)
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
