//! A new module is rolled out alone, before the rest of a release, and reverted if a proxy does not run it.
//!
//! ```text
//! new      record with both modules -> ConfigMap with an embedded old one -> objects with the new one -> wait
//! revert   record -> objects with the old module -> that ConfigMap -> record
//! ```
//!
//! The record names modules, and contains none. After a rollout the record ends it first, and the ConfigMap is pruned as an
//! object that is no longer desired: a call that is killed in between leaves the old module within reach.

use crate::client::WriteMode;
use crate::observe::recover::config_objects;
use crate::stores::lease_manager::Task;
use crate::{Cluster, Error, StoredRecord, WaitOptions};
use canary_release::delivery::{ModuleContents, ModuleRollout};
use canary_release::object::Reference;
use canary_release::plan::{ModuleChoice, Plan, back_up_modules, drop_module_backup, plan_module_rollout};
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
        contents: &ModuleContents,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<(), Error> {
        let mut stored = self.get_or_recover_record(&release.name, &config_objects(release)?).await?;
        let module = rollout.to_string();
        stored.record.begin_module_rollout(rollout, self.author());
        let backup = back_up_modules(&mut stored.record, &release.name, contents);
        self.records.save(&release.name, &mut stored).await?;
        if let Some(backup) = backup {
            self.client.carry_out(&backup, WriteMode::Commit).await?;
        }
        self.deploy(release, &stored, ModuleChoice::New(contents)).await?;
        match self.wait_for_proxies(&release.name, &stored.record, waiting).await {
            Err(Error::Late { desired, behind, waited }) => {
                stored.record.revert_module_rollout(self.author());
                self.records.save(&release.name, &mut stored).await?;
                self.deploy(release, &stored, ModuleChoice::Old(contents)).await?;
                if let Some(backup) = drop_module_backup(&mut stored.record) {
                    self.client.carry_out(&backup, WriteMode::Commit).await?;
                }
                stored.record.module_rollout = None;
                self.records.save(&release.name, &mut stored).await?;
                Err(Error::NoModule { desired, module, behind, waited })
            }
            done => done.map(drop),
        }
    }

    /// Writes the objects that name the module. The record is written before.
    async fn deploy(
        &self,
        release: &Release,
        stored: &StoredRecord,
        which: ModuleChoice<'_>,
    ) -> Result<(), Error> {
        let shared = stored.record.config_objects().map(Reference::place).collect();
        let task = Task { verb: "apply", release: &release.name };
        let plan = async || self.module_plan(release, stored, which).await;
        self.leases.with_leases(shared, task, async || self.apply_with_retry(plan).await).await.map(drop)
    }

    async fn module_plan(
        &self,
        release: &Release,
        stored: &StoredRecord,
        which: ModuleChoice<'_>,
    ) -> Result<Plan, Error> {
        let record = &stored.record;
        let Some(rollout) = &record.module_rollout else { return Ok(Plan::default()) };
        let observed = self.configurations(record).await?;
        self.records.ensure_current(&release.name, stored).await?;
        Ok(plan_module_rollout(rollout, &release.name.to_string(), record, which, &observed)?)
    }
}
