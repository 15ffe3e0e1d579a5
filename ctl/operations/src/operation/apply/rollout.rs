//! Writes what `apply` has planned: part by part if a part must have reached the proxies before the next one is written.

use super::planning::Planned;
use super::snapshot::Snapshot;
use crate::client::WriteMode;
use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::stores::lease_manager::{NamespacedName, Task};
use crate::{Cluster, Error, StoredRecord, WaitOptions};
use canary_release::config::SigningKeys;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{Desired, Plan, config_references};
use canary_release::record::Record;
use canary_release::spec::Release;

/// The objects that releases on the same proxies share. They are written under the Leases of their configurations: of two
/// releases that find none, the second would replace the first one's.
pub(super) const SHARED: [Stage; 3] = [Stage::Configuration, Stage::Runtime, Stage::Filter];

/// The writes of a release after its record.
pub(super) struct Rollout<'r> {
    release: &'r Release,
    pub(super) stored: StoredRecord,
    keys: SigningKeys,
    snapshot: Snapshot,
    /// The first plan, as `diff` shows it.
    pub(super) plan: Plan,
    /// The number of new subsets.
    subsets: usize,
}

/// The first writes, while the Leases under which the snapshot was read are still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// The filter with a configuration at weight 0: without it a client can name the version of a route itself.
    Filter,
    /// Nothing: there are new subsets, and no route may name a cluster that a proxy does not have.
    Nothing,
    /// Everything.
    All,
}

impl<'r> Rollout<'r> {
    /// The rollout of a plan whose record has been written.
    ///
    /// # Errors
    ///
    /// If there are no keys: a placeholder never signs.
    pub(super) fn of(release: &'r Release, planned: Planned) -> Result<Self, Error> {
        let Planned { stored, keys, snapshot, desired, plan, .. } = planned;
        let subsets = desired.new_subsets(&snapshot.observed);
        Ok(Self { release, stored, keys: keys.required()?, snapshot, plan, subsets })
    }

    fn first(&self) -> First {
        if self.plan.brings_filter() && self.plan.has_ways() {
            First::Filter
        } else if self.brings_subsets() {
            First::Nothing
        } else {
            First::All
        }
    }

    fn brings_subsets(&self) -> bool {
        self.subsets > 0 || (self.plan.has(Stage::Subsets) && self.plan.has_ways())
    }

    fn desired(&self) -> Result<Desired, Error> {
        Ok(Desired::of(self.release, &self.stored.record, &self.keys, &self.snapshot.observed)?)
    }

    /// The deletion of objects that only served removed versions.
    fn pruning(&self) -> Result<Plan, Error> {
        let (record, observed) = (&self.stored.record, &self.snapshot.observed);
        Ok(self.desired()?.prune(&self.release.name, record, observed))
    }

    /// The rest of the plan.
    fn rest(&self) -> Result<Plan, Error> {
        Ok(self.desired()?.plan(self.release, &self.stored.record, &self.snapshot.observed)?)
    }
}

impl Cluster {
    /// Writes the first part. The caller has held the Leases of the shared objects since it read them.
    pub(super) async fn write_first(&self, rollout: &mut Rollout<'_>) -> Result<(), Error> {
        match rollout.first() {
            First::Filter => self.write(rollout, &SHARED).await,
            First::Nothing => Ok(()),
            First::All => self.write(rollout, &ALL).await,
        }
    }

    /// Writes the rest, each part after the proxies have what it depends on.
    pub(super) async fn write_rest(
        &self,
        rollout: &mut Rollout<'_>,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<(), Error> {
        if rollout.first() == First::Filter {
            self.wait_for_proxies(&rollout.release.name, &rollout.stored.record, waiting).await?;
        }
        if rollout.brings_subsets() {
            let before = self.clusters(&rollout.stored.record).await?;
            self.write_current(rollout, &[Stage::Subsets]).await?;
            if !before.is_empty() {
                // Other clusters may be sent at the same moment, so a count alone is not enough.
                tokio::time::sleep(self.options.istiod_push_delay).await;
            }
            self.wait_for_clusters(&rollout.stored.record, &before, rollout.subsets, waiting).await?;
        }
        let rest = rollout.rest()?;
        if !rest.changes.iter().any(|change| SHARED.contains(&change.stage)) {
            return if rest.is_empty() { Ok(()) } else { self.write_current(rollout, &ALL).await };
        }
        let task = Task { verb: "apply", release: &rollout.release.name };
        let places = shared_places(rollout.release, &rollout.stored.record)?;
        self.leases
            .with_leases(places, task, async || {
                let shared = rest.changes.iter().filter(|change| SHARED.contains(&change.stage));
                let shared: Vec<Reference> = shared.map(|change| change.object.clone()).collect();
                self.refresh(&mut rollout.snapshot, &shared).await?;
                self.write_current(rollout, &ALL).await
            })
            .await
    }

    /// Deletes what only served removed versions: every proxy ignores them by now. Then the record names the remaining
    /// objects.
    pub(super) async fn prune(&self, rollout: &mut Rollout<'_>) -> Result<(), Error> {
        let before = rollout.stored.record.clone();
        rollout.stored.record.leaving.clear();
        if !before.leaving.is_empty() {
            let plan = rollout.pruning()?;
            self.refresh(&mut rollout.snapshot, plan.changes.iter().map(|change| &change.object)).await?;
            for change in rollout.pruning()?.changes {
                self.client.carry_out(&change, WriteMode::Commit).await?;
                self.wait_for_istiod_push(&before).await;
            }
        }
        rollout.stored.record.objects = rollout.desired()?.owned();
        if before != rollout.stored.record {
            self.records.save(&rollout.release.name, &mut rollout.stored).await?;
        }
        Ok(())
    }

    /// The same as [`write`](Self::write), if no other client has changed the release since: a weight does not wait for an
    /// `apply`, and must not be undone by what was read before it.
    async fn write_current(&self, rollout: &mut Rollout<'_>, stages: &[Stage]) -> Result<(), Error> {
        self.records.ensure_current(&rollout.release.name, &rollout.stored).await?;
        self.write(rollout, stages).await
    }

    /// Writes what is left of these stages. An object that another client has written meanwhile (409) is read again.
    async fn write(&self, rollout: &mut Rollout<'_>, stages: &[Stage]) -> Result<(), Error> {
        let mut attempt = 0;
        loop {
            let Some((refused, error)) = self.write_once(rollout, stages).await? else { return Ok(()) };
            if attempt == MAX_CONFLICTS {
                return Err(error);
            }
            attempt += 1;
            tokio::time::sleep(backoff(attempt)).await;
            self.refresh(&mut rollout.snapshot, [&refused]).await?;
            self.records.ensure_current(&rollout.release.name, &rollout.stored).await?;
        }
    }

    /// The object that was answered with 409, if one was.
    async fn write_once(
        &self,
        rollout: &mut Rollout<'_>,
        stages: &[Stage],
    ) -> Result<Option<(Reference, Error)>, Error> {
        for change in rollout.rest()?.of(stages).changes {
            match self.client.carry_out(&change, WriteMode::Commit).await {
                Ok(written) => rollout.snapshot.observed.replace(&change.object, written)?,
                Err(error @ Error::Stale { .. }) => return Ok(Some((change.object, error))),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Gives istiod time to send what was written, if there is a proxy to send it to.
    /// Proxies that cannot be listed count as one.
    pub(crate) async fn wait_for_istiod_push(&self, record: &Record) {
        if !self.ready_proxies(record).await.is_ok_and(|proxies| proxies.is_empty()) {
            tokio::time::sleep(self.options.istiod_push_delay).await;
        }
    }
}

const ALL: [Stage; 7] = [
    Stage::Subsets,
    Stage::Routes,
    Stage::Edits,
    Stage::Configuration,
    Stage::Runtime,
    Stage::Filter,
    Stage::ModuleBackup,
];

/// The Leases of the objects that a release shares with others.
pub(super) fn shared_places(release: &Release, record: &Record) -> Result<Vec<NamespacedName>, Error> {
    Ok(config_references(release, record)?.iter().map(Reference::place).collect())
}
