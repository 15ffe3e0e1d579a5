//! Promotes the releases of a train, each before its callers: a new caller needs the new version of what it calls.
//!
//! ```text
//! every release   checks, dry runs, the present generation in every proxy
//! each in turn    record -> default routes -> configuration -> wait
//! ```

use super::checked::{CheckedStep, CheckedTrain};
use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainRelease, TrainStep};
use crate::{CheckedPromotion, Cluster, Error, PromoteOptions, StoredRecord, WaitOptions};
use canary_release::record::PromotionState;
use canary_release::spec::ReleaseName;
use canary_release::train::TrainError;

/// The promotion of a train whose checks have passed; [`Cluster::promote_train`] carries it out.
pub type CheckedTrainPromotion<'a> = CheckedTrain<PromoteOptions<'a>, CheckedPromotion<'a>>;

impl Cluster {
    /// Checks the promotion of each release of a train, and lets the API server validate its first writes.
    ///
    /// # Errors
    ///
    /// If a check of one refuses, its canary was rolled back, or there is nothing to promote; the error names the release.
    pub async fn check_train_promotion<'a>(
        &self,
        train: &Train,
        options: PromoteOptions<'a>,
    ) -> Result<CheckedTrainPromotion<'a>, Error> {
        let round = train.round().map(|round| round.name().to_owned());
        let all: Vec<&ReleaseName> = train.releases.iter().map(|release| &release.name).collect();
        let mut steps = Vec::new();
        for TrainRelease { name, stored } in &train.releases {
            let step = match stored.record.promotion_state() {
                PromotionState::NoCanary => CheckedStep::Leave(LeftReason::NoCanary),
                PromotionState::RolledBack(change) => {
                    let (release, change) = (name.clone(), Box::new(change));
                    return Err(TrainError::RolledBack { release, change }.into());
                }
                state @ (PromotionState::Canary(_) | PromotionState::Promoted(_)) => {
                    // A train that was read from some namespaces may not be whole.
                    if matches!(state, PromotionState::Canary(_)) {
                        let checked = self.check_promoted_inside(name, &stored.record, &all, options.skipped);
                        about(name, checked.await)?;
                    }
                    let checked = self.check_promotion_step(name, stored.clone(), options).await;
                    CheckedStep::Change(about(name, checked)?.in_train(round.clone()))
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

    async fn check_promotion_step<'a>(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: PromoteOptions<'a>,
    ) -> Result<CheckedPromotion<'a>, Error> {
        let checked = Box::pin(self.check_own_promotion(release, stored, options)).await?;
        if checked.canary().is_some() {
            checked.check_step()?;
            self.check_admission(&self.unfinished(release, &checked.preview()).await?).await?;
        }
        Ok(checked)
    }

    /// Promotes the releases of a train, each when the one before has arrived in every proxy. One that was promoted already is left as it is: a
    /// call that was killed is continued. `told` is called with each step.
    ///
    /// # Errors
    ///
    /// Before the first write if a proxy of any release does not run its present generation in time, or cannot be asked. Later as
    /// [`Cluster::promote`] of one release: those before it are promoted, and the same call goes on. The error names the release.
    pub async fn promote_train(
        &self,
        checked: CheckedTrainPromotion<'_>,
        waiting: &mut WaitOptions<'_>,
        told: &mut dyn FnMut(&TrainStep),
    ) -> Result<TrainChanged, Error> {
        self.check_train_promotion_begins(&checked).await?;
        let canaries = checked.changes().filter(|(_, promotion)| promotion.canary().is_some());
        for (release, promotion) in canaries {
            about(release, Box::pin(self.wait(release, promotion.record(), waiting)).await)?;
        }
        let options = checked.options;
        let promote = async |release: &ReleaseName, mut promotion: CheckedPromotion<'_>, is_outdated| {
            if is_outdated {
                let stored = self.records.get(release).await?;
                let again = self.check_promotion_step(release, stored, options).await?;
                promotion = again.in_train(promotion.train_round);
            }
            Box::pin(self.promote_in_train(release, promotion, waiting)).await
        };
        checked.carry_out(told, promote).await
    }

    /// The last checks of the promotions of a train. Reads only.
    ///
    /// # Errors
    ///
    /// As [`Cluster::check_promotion_begins`]; the error names the release.
    pub async fn check_train_promotion_begins(
        &self,
        checked: &CheckedTrainPromotion<'_>,
    ) -> Result<(), Error> {
        for (release, promotion) in checked.changes() {
            about(release, self.check_promotion_begins(promotion).await)?;
        }
        Ok(())
    }

    async fn promote_in_train(
        &self,
        release: &ReleaseName,
        checked: CheckedPromotion<'_>,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<TrainChange, Error> {
        if checked.canary().is_none() && self.is_complete(release, &checked.stored).await? {
            self.wait(release, checked.record(), waiting).await?;
            return Ok(TrainChange::Left(match checked.record().promotion_state() {
                PromotionState::Promoted(version) => LeftReason::Promoted(version),
                _ => LeftReason::NoCanary,
            }));
        }
        let changed = Box::pin(self.promote(checked, waiting, true)).await?;
        Ok(TrainChange::Changed(Box::new(changed)))
    }
}
