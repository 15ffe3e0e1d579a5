//! A pause on a cluster: one write of the record. Nothing that proxies read changes.

use crate::{Cluster, Error, StoredRecord};
use canary_release::preflight::PreflightCheck;
use canary_release::spec::ReleaseName;

impl Cluster {
    /// Pauses a release: from now on only its pauser can set a weight, `apply` what moves users, and the like.
    ///
    /// # Errors
    ///
    /// If another user has paused it already, or the release has changed since it was read.
    pub async fn pause(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        reason: Option<String>,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        let mut stored = self.preview_pause(release, stored, reason, skipped)?;
        self.records.save(release, &mut stored).await?;
        Ok(stored)
    }

    /// The record as [`pause`](Self::pause) would write it.
    ///
    /// # Errors
    ///
    /// If another user has paused it already, or the record is not obeyed.
    pub fn preview_pause(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        reason: Option<String>,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        stored.ensure_trusted(release)?;
        self.check_pause(&stored.record, skipped)?;
        stored.record.pause(self.author(), reason);
        Ok(stored)
    }

    /// The record as [`resume`](Self::resume) would write it.
    ///
    /// # Errors
    ///
    /// As [`preview_pause`](Self::preview_pause).
    pub fn preview_resume(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        stored.ensure_trusted(release)?;
        self.check_pause(&stored.record, skipped)?;
        if stored.record.paused.is_some() {
            stored.record.resume(self.author());
        }
        Ok(stored)
    }

    /// Ends a pause. Writes nothing if there is none.
    ///
    /// # Errors
    ///
    /// As [`Cluster::pause`].
    pub async fn resume(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        skipped: &[PreflightCheck],
    ) -> Result<StoredRecord, Error> {
        let was_paused = stored.record.paused.is_some();
        let mut stored = self.preview_resume(release, stored, skipped)?;
        if was_paused {
            self.records.save(release, &mut stored).await?;
        }
        Ok(stored)
    }
}
