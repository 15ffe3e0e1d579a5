//! Promotes the releases of a train, each before its callers: a new caller needs the new version of what it calls.
//!
//! ```text
//! every release   checks, dry runs, the present generation in every proxy
//! each in turn    record -> default routes -> configuration -> wait
//! ```

use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainStep};
use crate::{CheckedPromotion, Cluster, Error, PromoteOptions, StoredRecord, WaitOptions};
use canary_release::spec::ReleaseName;
use canary_release::train::{PromotionState, TrainError};

/// The promotion of a train whose checks have passed; [`Cluster::promote_train`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedTrainPromotion<'a> {
    round: String,
    options: PromoteOptions<'a>,
    steps: Vec<(ReleaseName, PromotionStep<'a>)>,
}

/// What is to be done with a release.
#[derive(Clone, Debug)]
enum PromotionStep<'a> {
    /// It is promoted; one that was promoted already is waited for.
    Promote(Box<CheckedPromotion<'a>>),
    Leave(LeftReason),
}

impl<'a> CheckedTrainPromotion<'a> {
    /// The releases that are promoted, in this order, and those that were promoted already.
    pub fn promotions(&self) -> impl Iterator<Item = (&ReleaseName, &CheckedPromotion<'a>)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            PromotionStep::Promote(checked) => Some((release, checked.as_ref())),
            PromotionStep::Leave(_) => None,
        })
    }

    /// Takes the promotion of a release out, for who carries it out last.
    pub(crate) fn take(&mut self, release: &ReleaseName) -> Option<CheckedPromotion<'a>> {
        let index = self.steps.iter().position(|(name, _)| name == release)?;
        match self.steps.remove(index).1 {
            PromotionStep::Promote(checked) => Some(*checked),
            PromotionStep::Leave(_) => None,
        }
    }

    /// The releases that are left as they are, and why.
    pub fn left(&self) -> impl Iterator<Item = (&ReleaseName, &LeftReason)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            PromotionStep::Leave(reason) => Some((release, reason)),
            PromotionStep::Promote(_) => None,
        })
    }
}

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
        let mut steps = Vec::new();
        let mut has_promotion = false;
        let round = train.round().map(|round| round.name().to_owned()).unwrap_or_default();
        for release in &train.releases {
            let name = &release.name;
            let step = match release.stored.record.promotion_state() {
                PromotionState::NoCanary => PromotionStep::Leave(LeftReason::NoCanary),
                PromotionState::RolledBack(change) => {
                    return Err(
                        TrainError::RolledBack { release: name.clone(), change: Box::new(change) }.into()
                    );
                }
                PromotionState::Canary(_) | PromotionState::Promoted(_) => {
                    has_promotion = true;
                    let checked =
                        self.check_train_step(name, release.stored.clone(), (&round, options)).await;
                    PromotionStep::Promote(Box::new(about(name, checked)?))
                }
            };
            steps.push((name.clone(), step));
        }
        if !has_promotion {
            return Err(train.nothing_to_do());
        }
        Ok(CheckedTrainPromotion { round, options, steps })
    }

    async fn check_train_step<'a>(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        (round, options): (&str, PromoteOptions<'a>),
    ) -> Result<CheckedPromotion<'a>, Error> {
        let checked = Box::pin(self.check_own_promotion(release, stored, options)).await?.in_train(round);
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
        for (release, promotion) in checked.promotions().filter(|(_, promotion)| promotion.canary().is_some())
        {
            let record = promotion.record();
            about(release, self.check_proxies_seen(release, record).await)?;
            about(release, Box::pin(self.wait(release, record, waiting)).await)?;
        }
        let CheckedTrainPromotion { round, options, steps } = checked;
        let mut changed = TrainChanged::default();
        for (release, step) in steps {
            let change = match step {
                PromotionStep::Leave(reason) => TrainChange::Left(reason),
                PromotionStep::Promote(mut promotion) => {
                    if changed.has_written() {
                        let again = self.check_again(&release, (&round, options)).await;
                        *promotion = about(&release, again)?;
                    }
                    let promoted = Box::pin(self.promote_in_train(&release, *promotion, waiting)).await;
                    about(&release, promoted)?
                }
            };
            changed.add((release, change), told);
        }
        Ok(changed)
    }

    /// The checks once more, of the record as it is now: the step before may have taken minutes.
    async fn check_again<'a>(
        &self,
        release: &ReleaseName,
        with: (&str, PromoteOptions<'a>),
    ) -> Result<CheckedPromotion<'a>, Error> {
        let stored = self.records.get(release).await?;
        self.check_train_step(release, stored, with).await
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
