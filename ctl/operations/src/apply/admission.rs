//! What the API server says to everything that an `apply` is going to write, before the first write: a policy, a quota or an
//! owner of fields that refuses one object leaves none of the others behind.
//!
//! It costs one request for each object, all at the same time.

use super::Planned;
use crate::client::WriteMode;
use crate::{Cluster, Error};
use canary_release::spec::Release;
use futures_util::future::join_all;

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

    /// The same; all refusals.
    pub(crate) async fn refusals(&self, release: &Release, planned: &Planned) -> Vec<Error> {
        let objects =
            planned.plan.changes.iter().map(async |change| {
                tolerate(self.client.carry_out(change, WriteMode::DryRun).await.map(drop))
            });
        let record = async { tolerate(self.records.dry_run(&release.name, &planned.stored).await) };
        let keys = async { tolerate(self.keys.dry_run_missing(&planned.keys).await) };
        let (objects, record, keys) = tokio::join!(join_all(objects), record, keys);
        objects.into_iter().chain([record, keys]).filter_map(Result::err).collect()
    }
}

/// What says nothing about the write itself: a webhook with side effects is not called by a dry run.
fn tolerate(done: Result<(), Error>) -> Result<(), Error> {
    match done {
        Err(Error::Stale { .. } | Error::Deleted { .. } | Error::ConcurrentChange { .. }) => Ok(()),
        Err(Error::Refused { message, .. }) if message.contains("does not support dry run") => Ok(()),
        other => other,
    }
}
