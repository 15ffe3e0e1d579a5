//! `pause` and `resume`: read the record, write the pause, report.

use super::arguments::OnCluster;
use super::target::{self, ReleaseTarget};
use crate::report::Printer;
use crate::{Error, Outcome};
use clap::Args;

/// Pause a release: other users cannot change it
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users go on as they are. Who paused it may still change it, and `weight 0` is never refused.

Examples:
  canary-ctl pause --reason 'the p99 looks odd'
  canary-ctl pause -r shop --skip-check paused     replace the pause of another user"
)]
pub(super) struct Pause {
    #[command(flatten)]
    pub(super) on: OnCluster,
    /// The reason that `status` and refused commands print
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
}

/// Let a paused release change again
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl resume
  canary-ctl resume --skip-check paused     although another user has paused it")]
pub(super) struct Resume {
    #[command(flatten)]
    pub(super) on: OnCluster,
}

pub(super) async fn pause(arguments: &Pause, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
    let skipped = &arguments.on.checks.skipped;
    let stored = cluster.pause(&name, stored, arguments.reason.clone(), skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&format!("{name}: paused at {weight}; users go on as they are"));
    printer.hint("`canary-ctl resume` ends it; `canary-ctl weight 0` is never refused");
    Ok(Outcome::Done)
}

pub(super) async fn resume(arguments: &Resume, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
    let was = stored.record.paused.clone();
    let stored = cluster.resume(&name, stored, &arguments.on.checks.skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&match was {
        Some(pause) => format!("{name}: goes on at {weight}; it was paused by {pause}"),
        None => format!("{name}: is not paused"),
    });
    Ok(Outcome::Done)
}
