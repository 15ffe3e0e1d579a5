//! A new module, as a step of its own: alone, seen in every proxy before anything else comes, taken back where it does not run.
//!
//! ```text
//! record   the module before it, so that every other verb can put that back -> objects -> wait
//! late     record -> objects with the module before it -> record
//! ```

use super::lease::Task;
use super::{Cluster, Error, StoredRecord, WaitOptions};
use crate::plan::{Plan, Reference, Trial, Trying};
use crate::spec::Release;

impl Cluster {
    /// Brings a new module to every proxy of a release that is there.
    ///
    /// Fails where a proxy does not run it in time: by then the old one is back. Killed before, `apply` tries again, and
    /// every verb that moves users puts the old one back.
    pub(super) async fn try_module(
        &self,
        release: &Release,
        trial: Trial,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<(), Error> {
        let mut stored = self.get_record(&release.name).await?;
        let module = trial.to_string();
        stored.record.begin_trial(trial, &self.user);
        self.bring(release, &mut stored, Trying::New).await?;
        match self.wait(&release.name.to_string(), &stored.record, waiting).await {
            Err(Error::Late { behind, waited, .. }) => {
                stored.record.take_trial_back(&self.user);
                self.bring(release, &mut stored, Trying::Old).await?;
                stored.record.trial = None;
                self.save_record(&release.name, &mut stored).await?;
                Err(Error::NoModule { module, behind, waited })
            }
            done => done.map(drop),
        }
    }

    /// The record first, then the objects that name the module.
    async fn bring(&self, release: &Release, stored: &mut StoredRecord, which: Trying) -> Result<(), Error> {
        self.save_record(&release.name, stored).await?;
        let stored = &*stored;
        let shared = stored.record.config_objects().map(Reference::place).collect();
        let task = Task { verb: "apply", release: &release.name };
        let plan = async || self.tried(release, stored, which).await;
        self.with_leases(shared, task, async || self.apply_with_retry(plan).await).await.map(drop)
    }

    async fn tried(&self, release: &Release, stored: &StoredRecord, which: Trying) -> Result<Plan, Error> {
        let record = &stored.record;
        let Some(trial) = &record.trial else { return Ok(Plan::default()) };
        let observed = self.configurations(record).await?;
        self.ensure_current(&release.name, stored).await?;
        Ok(trial.plan(&release.name.to_string(), record, which, &observed)?)
    }
}
