//! A new module is rolled out alone, before the rest of a release, and reverted if a proxy does not run it.
//!
//! ```text
//! new      record with both modules -> objects with the new one -> wait
//! revert   record -> objects with the old module -> record
//! ```

use crate::lease_manager::Task;
use crate::{Cluster, Error, StoredRecord, WaitOptions};
use canary_release::plan::{ModuleChoice, ModuleRollout, Plan, Reference};
use canary_release::spec::Release;

impl Cluster {
    /// Rolls out a new module to every proxy of an installed release.
    ///
    /// # Errors
    ///
    /// If a proxy does not run it in time; the old module is restored by then. If it is interrupted, `apply` tries again, and
    /// every other operation that moves users restores the old module.
    pub(super) async fn roll_out_module(
        &self,
        release: &Release,
        rollout: ModuleRollout,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<(), Error> {
        let mut stored = self.records.get(&release.name).await?;
        let module = rollout.to_string();
        stored.record.begin_module_rollout(rollout, &self.user);
        self.deploy(release, &mut stored, ModuleChoice::New).await?;
        match self.wait_for_proxies(&release.name, &stored.record, waiting).await {
            Err(Error::Late { desired, behind, waited }) => {
                stored.record.revert_module_rollout(&self.user);
                self.deploy(release, &mut stored, ModuleChoice::Old).await?;
                stored.record.module_rollout = None;
                self.records.save(&release.name, &mut stored).await?;
                Err(Error::NoModule { desired, module, behind, waited })
            }
            done => done.map(drop),
        }
    }

    /// The record first, then the objects that name the module.
    async fn deploy(
        &self,
        release: &Release,
        stored: &mut StoredRecord,
        which: ModuleChoice,
    ) -> Result<(), Error> {
        self.records.save(&release.name, stored).await?;
        let stored = &*stored;
        let shared = stored.record.config_objects().map(Reference::place).collect();
        let task = Task { verb: "apply", release: &release.name };
        let plan = async || self.module_plan(release, stored, which).await;
        self.leases.with_leases(shared, task, async || self.apply_with_retry(plan).await).await.map(drop)
    }

    async fn module_plan(
        &self,
        release: &Release,
        stored: &StoredRecord,
        which: ModuleChoice,
    ) -> Result<Plan, Error> {
        let record = &stored.record;
        let Some(rollout) = &record.module_rollout else { return Ok(Plan::default()) };
        let observed = self.configurations(record).await?;
        self.records.ensure_current(&release.name, stored).await?;
        Ok(rollout.plan(&release.name.to_string(), record, which, &observed)?)
    }
}
