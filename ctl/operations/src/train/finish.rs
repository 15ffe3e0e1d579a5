//! Ends the drains of the releases of a train, in the reverse order of promotion: sessions of an old caller call the old version of what it calls.

use super::step::about;
use super::{LeftReason, Train, TrainChange, TrainChanged, TrainStep};
use crate::{CheckedFinish, Cluster, Error, WaitOptions};
use canary_release::preflight::PreflightCheck;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;

/// The end of the drains of a train whose checks have passed; [`Cluster::finish_train`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedTrainFinish<'a> {
    skipped: &'a [PreflightCheck],
    steps: Vec<(ReleaseName, Option<CheckedFinish>)>,
}

impl CheckedTrainFinish<'_> {
    /// The releases with versions that drain, in the order in which they end.
    pub fn finishes(&self) -> impl Iterator<Item = (&ReleaseName, &CheckedFinish)> {
        self.steps.iter().filter_map(|(release, finish)| Some((release, finish.as_ref()?)))
    }
}

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
        for release in train.releases.iter().rev() {
            let (name, stored) = (&release.name, &release.stored);
            let step = if drains(&stored.record) {
                let checked = about(name, self.check_finish(name, stored.clone(), skipped))?;
                let mut after = stored.record.clone();
                after.finish(checked.versions(), "");
                about(name, self.protect_routes(name, &after).await)?;
                Some(checked)
            } else {
                None
            };
            steps.push((name.clone(), step));
        }
        Ok(CheckedTrainFinish { skipped, steps })
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
        for (release, finish) in checked.finishes() {
            about(release, self.check_proxies_seen(release, &finish.stored().record).await)?;
        }
        let mut changed = TrainChanged::default();
        for (release, step) in checked.steps {
            let change = match step {
                None => TrainChange::Left(LeftReason::NothingDrains),
                Some(mut finish) => {
                    if changed.has_written() {
                        let stored = about(&release, self.records.get(&release).await)?;
                        finish = about(&release, self.check_finish(&release, stored, checked.skipped))?;
                    }
                    let finished = Box::pin(self.finish(finish, waiting)).await;
                    TrainChange::Changed(Box::new(about(&release, finished)?))
                }
            };
            changed.add((release, change), told);
        }
        Ok(changed)
    }
}

fn drains(record: &Record) -> bool {
    !record.draining_versions().is_empty() || !record.leaving.is_empty()
}
