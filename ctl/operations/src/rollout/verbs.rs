//! What people ask of a rollout: one write of the record, which a driver carries out. Its start, and an end that changes no weight, are
//! written to the objects at once.

use crate::{Cluster, Error, StoredRecord};
use canary_release::preflight::PreflightCheck;
use canary_release::rollout::RolloutVerb;
use canary_release::spec::{ReleaseName, RolloutSpec};

impl Cluster {
    /// Starts a rollout, and lets the proxies count by user group. The first step is a driver's.
    ///
    /// # Errors
    ///
    /// If the release is paused by another user, has no canary or no such plan, or a rollout of it goes on. If the file asks for a percentile
    /// of stable's responses, and the proxies have counted too few. If another client has changed the release since it was read.
    pub async fn start_rollout(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        (spec, plan): (&RolloutSpec, &str),
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        stored = self.preview_rollout_start(release, stored, (spec, plan), skipped).await?;
        self.check_config_update(release, &stored).await?;
        self.records.save(release, &mut stored).await?;
        self.write_weight(release, &stored).await?;
        Ok(stored)
    }

    /// The record as [`start_rollout`](Self::start_rollout) would write it. Reads only.
    ///
    /// # Errors
    ///
    /// As those of `start_rollout`, but for what other clients write.
    pub async fn preview_rollout_start(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        (spec, plan): (&RolloutSpec, &str),
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        stored.ensure_trusted(release)?;
        self.check_pause(&stored.record, skipped)?;
        let spec = self.resolve_slower_than(release, &stored.record, spec).await?;
        stored.record.start_rollout(&spec, plan, self.author())?;
        Ok(stored)
    }

    /// The record as [`change_rollout`](Self::change_rollout) would write it.
    ///
    /// # Errors
    ///
    /// As those of `change_rollout`, but for what other clients write.
    pub fn preview_rollout_change(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        verb: RolloutVerb,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        stored.ensure_trusted(release)?;
        if !matches!(verb, RolloutVerb::Abort | RolloutVerb::Pause) {
            self.check_pause(&stored.record, skipped)?;
        }
        stored.record.change_rollout(verb, self.author())?;
        Ok(stored)
    }

    /// Writes what a user asks of a rollout into the record. If that ends the rollout, the proxies stop counting by user group.
    ///
    /// # Errors
    ///
    /// If the release is paused by another user and the rollout would go on, no rollout goes on, or it cannot do that now. If
    /// another client has changed the release since it was read.
    pub async fn change_rollout(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        verb: RolloutVerb,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        let generation = stored.record.state.generation;
        stored = self.preview_rollout_change(release, stored, verb, skipped)?;
        let is_deployed_too = stored.record.state.generation != generation;
        if is_deployed_too {
            self.check_config_update(release, &stored).await?;
        }
        self.records.save(release, &mut stored).await?;
        if is_deployed_too {
            self.write_weight(release, &stored).await?;
        }
        Ok(stored)
    }
}
