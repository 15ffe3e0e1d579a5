//! `pause` and `resume`: read the record, write the pause, report.

use super::arguments::{self, DryRun, DryRunArgument, OnCluster};
use super::named_release::InvalidFile;
use super::target::{self, ReleaseTarget};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{Cluster, StoredRecord};
use canary_release::spec::ReleaseName;
use clap::Args;

/// Pause a release: other users cannot change it
#[derive(Clone, Debug, Args)]
#[command(after_help = "Users stay as they are. The user who paused it may still change it, and
`weight 0` is never refused. The rollout of this release goes on:
`canary-ctl rollout pause` stops it.

Exit codes: 0 done, 2 failed or refused.

Examples:
  canary-ctl pause --reason 'the p99 looks odd'
  canary-ctl pause shop --skip-check paused  replace the pause of another user")]
#[command(arg = arguments::waits_always())]
pub(super) struct Pause {
    /// The reason that `status` and refused commands print
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
    #[command(flatten)]
    pub(super) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(super) on: OnCluster,
}

/// End the pause of a release
#[derive(Clone, Debug, Args)]
#[command(after_help = "`canary-ctl rollout resume` continues a rollout that `rollout pause` stopped.

Exit codes: 0 done, 2 failed or refused.

Examples:
  canary-ctl resume
  canary-ctl resume --skip-check paused  although another user has paused it")]
#[command(arg = arguments::waits_always())]
pub(super) struct Resume {
    #[command(flatten)]
    pub(super) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(super) on: OnCluster,
}

pub(super) async fn pause(arguments: &Pause, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } =
        target::connect_release(&arguments.on, InvalidFile::Ignored).await?;
    let skipped = &arguments.on.checks.skipped;
    let reason = arguments.reason.clone();
    if let Some(by) = arguments.dry_run.by {
        let stored = cluster.preview_pause(&name, stored, reason, skipped)?;
        return dry_run(by, &cluster, (&name, &stored), printer).await;
    }
    let stored = cluster.pause(&name, stored, reason, skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&format!("{name}: paused at {weight}; users go on as they are"));
    printer.hint("`canary-ctl resume` ends it; `canary-ctl weight 0` is never refused");
    Ok(Outcome::Done)
}

pub(super) async fn resume(arguments: &Resume, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } =
        target::connect_release(&arguments.on, InvalidFile::Refused).await?;
    let was = stored.record.paused.clone();
    if let Some(by) = arguments.dry_run.by {
        let stored = cluster.preview_resume(&name, stored, &arguments.on.checks.skipped)?;
        return dry_run(by, &cluster, (&name, &stored), printer).await;
    }
    let stored = cluster.resume(&name, stored, &arguments.on.checks.skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&match was {
        Some(pause) => format!("{name}: goes on at {weight}; it was paused by {pause}"),
        None => format!("{name}: is not paused"),
    });
    Ok(Outcome::Done)
}

/// Prints that the record could be written; with `server` the API server validates it.
async fn dry_run(
    by: DryRun,
    cluster: &Cluster,
    (name, stored): (&ReleaseName, &StoredRecord),
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    if by == DryRun::Server {
        cluster.dry_run_record(name, stored).await?;
    }
    printer.message(&match &stored.record.paused {
        Some(pause) => format!("{name}: would be paused by {pause}; nothing written"),
        None => format!("{name}: would not be paused; nothing written"),
    });
    Ok(Outcome::Done)
}
