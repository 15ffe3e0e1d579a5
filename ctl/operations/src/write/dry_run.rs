//! Server-side dry runs: the API server validates a plan, with rights, field owners and admission, and discards it.
//!
//! # Source
//! [Dry run](https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run)

use crate::client::WriteMode;
use crate::{Cluster, Error, StoredRecord};
use canary_release::plan::Plan;
use canary_release::spec::ReleaseName;
use futures_util::future::join_all;

/// The API server's text about an admission webhook with side effects.
const UNSUPPORTED: &str = "does not support dry run";

impl Cluster {
    /// Lets the API server validate a plan without writing it.
    ///
    /// # Errors
    ///
    /// If the API server refuses a change.
    pub async fn server_dry_run(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            self.client.carry_out(change, WriteMode::DryRun).await?;
        }
        Ok(())
    }

    /// Lets the API server validate a record that was changed, and discard it.
    ///
    /// # Errors
    ///
    /// If the API server refuses it, or another client has written it since it was read.
    pub async fn dry_run_record(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        self.records.dry_run_update(release, stored).await
    }

    /// The same with the configuration objects that follow from the record.
    ///
    /// # Errors
    ///
    /// As [`dry_run_record`](Self::dry_run_record), and if a configuration object does not contain the release.
    pub async fn dry_run_update(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        let plan = self.plan_weight(release, stored).await?;
        self.server_dry_run(&plan).await?;
        self.dry_run_record(release, stored).await
    }

    /// The same as [`server_dry_run`](Self::server_dry_run) before the record is written, all changes at the same time: what is refused then leaves no trace, and no later call
    /// carries it out.
    ///
    /// # Errors
    ///
    /// If the API server refuses a change. Not if another client has changed an object meanwhile: the write plans again.
    pub(crate) async fn check_admission(&self, plan: &Plan) -> Result<(), Error> {
        self.refused_changes(plan).await.into_iter().next().map_or(Ok(()), Err)
    }

    /// The changes of a plan that the API server refuses.
    pub(crate) async fn refused_changes(&self, plan: &Plan) -> Vec<Error> {
        let dry_runs = plan.changes.iter().map(async |change| {
            about_the_write(self.client.carry_out(change, WriteMode::DryRun).await.map(drop))
        });
        join_all(dry_runs).await.into_iter().filter_map(Result::err).collect()
    }
}

/// The result of a dry run, as far as it says something about the write itself. A webhook with side effects is not called by a dry
/// run, and refuses it.
pub(crate) fn about_the_write(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::Stale { .. } | Error::Deleted { .. } | Error::ConcurrentChange { .. }) => Ok(()),
        Err(Error::Refused { message, .. }) if message.contains(UNSUPPORTED) => Ok(()),
        other => other,
    }
}
