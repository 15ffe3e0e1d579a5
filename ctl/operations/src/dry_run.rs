//! Server-side dry runs: the API server validates a plan, with rights, field owners and admission, and discards it.
//!
//! # Source
//! [Dry run](https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run)

use crate::client::WriteMode;
use crate::{Cluster, Error};
use canary_release::plan::Plan;

/// What the API server says of an admission webhook with side effects.
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

    /// The same before the record is written: what is refused then leaves no trace, and no later call carries it out. An
    /// admission webhook that supports no dry runs says nothing about the write, so its refusal does not count.
    ///
    /// # Errors
    ///
    /// If the API server refuses a change.
    pub(crate) async fn check_admission(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            match self.client.carry_out(change, WriteMode::DryRun).await {
                Err(Error::Refused { message, .. }) if message.contains(UNSUPPORTED) => {}
                // Written by another client meanwhile: the write itself plans again.
                Err(Error::Stale { .. }) => {}
                done => drop(done?),
            }
        }
        Ok(())
    }
}
