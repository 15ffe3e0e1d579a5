//! A pause on a cluster: one write of the record. Nothing that proxies read changes.

use super::{Cluster, Error, StoredRecord};
use crate::plan::PreflightCheck;
use crate::spec::ReleaseName;

impl Cluster {
    /// Pauses a release: from now on a weight, an `apply` that moves users and the like are its pauser's alone.
    ///
    /// Fails where somebody else has paused it already, and where the release has changed since it was read.
    pub async fn pause(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        why: Option<String>,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        self.check_pause(&stored.record, skipped)?;
        stored.record.pause(&self.user, why);
        self.save_record(release, &mut stored).await?;
        Ok(stored)
    }

    /// Ends a pause. Writes nothing where there is none; fails as [`Cluster::pause`] does.
    pub async fn resume(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        self.check_pause(&stored.record, skipped)?;
        if stored.record.paused.is_some() {
            stored.record.resume(&self.user);
            self.save_record(release, &mut stored).await?;
        }
        Ok(stored)
    }
}
