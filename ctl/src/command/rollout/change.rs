//! What people ask of a rollout: one write of the record. `rollout run` carries it out.

use super::view::RolloutView;
use crate::command::arguments::{DryRun, DryRunArgument, OnCluster, Output};
use crate::command::emergency::limited;
use crate::command::inner_release::{self, InnerChange};
use crate::command::named_release::{self, InvalidFile};
use crate::command::target::{self, ReleaseTarget};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::rollout::{RolloutVerb, VerbError};
use canary_release::spec::{DEFAULT_PLAN, RolloutSpec, Seconds};
use clap::Args;

/// Start a rollout of the canary by a plan of the file
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rollout start            by the plan `default`: 1, 5, 10, 25, 50%
  canary-ctl rollout start --plan careful
  canary-ctl rollout start --dry-run  print the plan, and write nothing

Exit codes: 0 done, 2 failed or refused.")]
pub(in crate::command) struct RolloutStart {
    /// The plan, a name in `rollout.plans`
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PLAN)]
    pub(in crate::command) plan: String,
    #[command(flatten)]
    pub(in crate::command) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(in crate::command) on: OnCluster,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// Something that is asked of a rollout.
#[derive(Clone, Debug, Args)]
pub(in crate::command) struct RolloutChange {
    #[command(flatten)]
    pub(in crate::command) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(in crate::command) on: OnCluster,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

pub(super) async fn start(arguments: &RolloutStart, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let rollout = named_release::with_file(&arguments.on.of, &arguments.on.cluster)?.release.rollout;
    let found = target::connect_release(&arguments.on, InvalidFile::Refused).await?;
    inner_release::report(&found, InnerChange::Rollout, printer).await;
    let ReleaseTarget { name, cluster, mut stored } = found;
    let (plan, skipped) = ((&rollout, arguments.plan.as_str()), &arguments.on.checks.skipped);
    if let Some(by) = arguments.dry_run.by {
        stored = cluster.preview_rollout_start(&name, stored, plan, skipped).await?;
        if by == DryRun::Server {
            cluster.dry_run_update(&name, &stored).await?;
        }
    } else {
        stored = cluster.start_rollout(&name, stored, plan, skipped).await?;
    }
    printer.report(&RolloutView::of_record(&name, &stored.record)?)?;
    printer.message(&traffic(&rollout, &arguments.plan));
    let time = stored.record.rollout.as_ref().and_then(|rollout| rollout.policy.slower_than);
    if let (Some(percentile), Some(time)) = (rollout.slower_than_of_stable, time) {
        printer.message(&format!("a response is slow after {time}, {percentile} of stable's responses"));
    }
    if arguments.dry_run.by.is_none() {
        printer.hint("`canary-ctl rollout run` drives it");
    }
    Ok(Outcome::Done)
}

/// The traffic that the plan needs: said while there is time to choose another one.
fn traffic(rollout: &RolloutSpec, plan: &str) -> String {
    let after = |rate: f64| {
        let seconds = rollout.seconds_of_plan(plan, rate).map(f64::ceil)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let minutes = Seconds::new((seconds as u64).div_ceil(60) * 60)?;
        Some(format!("{minutes} with {rate} requests/s"))
    };
    let ends = [1.0, 10.0, 100.0].into_iter().filter_map(after).collect::<Vec<_>>().join(", ");
    let least = rollout.least_requests_per_second(plan).map_or_else(String::new, |rate| {
        format!("; it needs {rate:.1} requests/s to end within its deadline of {}", rollout.policy.deadline)
    });
    format!("the plan takes at least {ends}{least}")
}

pub(super) async fn change(
    arguments: &RolloutChange,
    verb: RolloutVerb,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    Box::pin(limited(&arguments.on.cluster, write(arguments, verb, printer))).await
}

async fn write(
    arguments: &RolloutChange,
    verb: RolloutVerb,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let invalid = match verb {
        RolloutVerb::Abort | RolloutVerb::Pause => InvalidFile::Ignored,
        _ => InvalidFile::Refused,
    };
    let ReleaseTarget { name, cluster, mut stored } = target::connect_release(&arguments.on, invalid).await?;
    let skipped = &arguments.on.checks.skipped;
    if let Some(by) = arguments.dry_run.by {
        stored = cluster.preview_rollout_change(&name, stored, verb, skipped)?;
        if by == DryRun::Server {
            cluster.dry_run_update(&name, &stored).await?;
        }
    } else {
        stored = cluster.change_rollout(&name, stored, verb, skipped).await?;
    }
    printer.report(&RolloutView::of_record(&name, &stored.record)?)?;
    if arguments.dry_run.by.is_none() && verb != RolloutVerb::Pause {
        printer.hint("a `canary-ctl rollout run` that goes on carries it out; without one, start it");
    }
    Ok(Outcome::Done)
}

/// The error where a release has no rollout.
pub(super) fn none() -> Error {
    canary_operations::Error::from(VerbError::NotActive { found: "none".to_owned() }).into()
}
