//! Takes a release off a cluster, the ways it came, backwards: only what we have written, and only while it is ours.

use super::lease::Task;
use super::objects::WriteMode;
use super::set_weight::{ATTEMPTS, pause};
use super::{Cluster, Error, StoredRecord, WaitOptions};
use crate::plan::{Plan, Reference, Ways, removal};
use crate::spec::ReleaseName;
use assignment::contract::{Role, VersionConfig};

impl Cluster {
    /// What `uninstall` would write. Reads only.
    pub async fn removal(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let observed = self.get_all(stored.record.objects.iter().map(|(_, reference)| reference)).await?;
        let ways = Ways::of(&release.to_string(), &stored.record);
        Ok(removal(&ways, &observed, &stored.record.objects)?)
    }

    /// Takes a release away. First every proxy learns that there is no canary, then objects go: routes, filter
    /// and configuration, subsets, and the record at last, so that a call that was killed can be continued.
    ///
    /// Keys stay: other releases sign with them. Fails before the first write where somebody else is at it, and before the
    /// objects where a `VirtualService` of somebody else still leads to a subset of ours.
    pub async fn uninstall(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Plan, Error> {
        let task = Task { verb: "uninstall", release };
        let alone = async || {
            if self.end_canary(release, &mut stored).await? {
                self.wait(&release.to_string(), &stored.record, waiting).await?;
            }
            self.protect_subsets(release, &stored.record).await?;
            let shared = stored.record.config_objects().map(Reference::place).collect();
            let plan = self.with_leases(shared, task, async || self.remove(release, &stored).await).await?;
            self.delete_record(release, &stored).await?;
            Ok(plan)
        };
        self.with_leases(vec![task.place()], task, alone).await
    }

    /// Takes its objects away, as the only one who makes or deletes those that releases share; again where the weight of
    /// another one of them was quicker.
    async fn remove(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let plan = self.removal(release, stored).await?;
        let mut done = self.take_away(release, stored, &plan).await;
        for attempt in 0..ATTEMPTS {
            if !matches!(done, Err(Error::Stale { .. })) {
                break;
            }
            tokio::time::sleep(pause(attempt)).await;
            let rest = self.removal(release, stored).await?;
            done = self.take_away(release, stored, &rest).await;
        }
        done.map(|()| plan)
    }

    async fn take_away(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
        plan: &Plan,
    ) -> Result<(), Error> {
        let mut leads = false;
        for change in &plan.changes {
            if std::mem::replace(&mut leads, change.stage.is_way()) && !leads {
                // They have to be gone from the proxies before the filter that guards them, and the subsets that they name.
                self.wait_for_istiod_push(&release.to_string(), &stored.record).await?;
            }
            self.carry_out(change, WriteMode::Commit).await?;
        }
        Ok(())
    }

    /// Makes the canary a version that is gone, in every proxy that holds it. Says whether there was one to end.
    async fn end_canary(&self, release: &ReleaseName, stored: &mut StoredRecord) -> Result<bool, Error> {
        let record = &mut stored.record;
        let is_stable = |version: &VersionConfig| version.role == Role::Stable;
        if !record.standing.versions.iter().all(is_stable) {
            let from = record.standing.weight;
            record.standing =
                record.standing.with_roles(|version| is_stable(version).then_some(Role::Stable));
            record.initial_weight = None;
            record.note(&self.user, from, "uninstall");
            self.save_record(release, stored).await?;
        }
        match self.write_weight(release, stored).await {
            Ok(_) => Ok(true),
            // An earlier call has come further, or `apply` never came so far: no proxy holds it.
            Err(Error::Plan(crate::plan::Error::NotCarried { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
