//! What the API server says to everything that an `apply` is going to write, before the first write: a policy, a quota or an
//! owner of fields that refuses one object leaves none of the others behind.
//!
//! It costs one request for each object, all at the same time.

use super::Planned;
use crate::write::dry_run::about_the_write;
use crate::{Cluster, Error};
use canary_release::spec::Release;

impl Cluster {
    /// Lets the API server validate the objects, the record and the Secrets of an `apply`.
    ///
    /// # Errors
    ///
    /// If it refuses one of them. Not if another client has changed it meanwhile: it is read again before it is written.
    pub(super) async fn check_apply_admission(
        &self,
        release: &Release,
        planned: &Planned,
    ) -> Result<(), Error> {
        self.refusals(release, planned).await.into_iter().next().map_or(Ok(()), Err)
    }

    pub(crate) async fn refusals(&self, release: &Release, planned: &Planned) -> Vec<Error> {
        let record = async { about_the_write(self.records.dry_run(&release.name, &planned.stored).await) };
        let keys =
            async { about_the_write(self.keys.dry_run_missing(&planned.keys, &release.metadata).await) };
        let (objects, record, keys) = tokio::join!(self.refused_changes(&planned.plan), record, keys);
        objects.into_iter().chain([record, keys].into_iter().filter_map(Result::err)).collect()
    }
}
