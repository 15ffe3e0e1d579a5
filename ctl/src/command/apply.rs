//! `apply`: read, plan, write make before break, wait, report.

use super::arguments::{ClusterAccess, DryRun, Output, SkipChecks, SpecFile, Writes};
use super::target;
use crate::hint::{CALLS_OF_AMBIENT_PODS, Hint as _};
use crate::report::{PlanReport, Printer};
use crate::{Error, Outcome};
use assignment::contract::Role;
use canary_operations::{Applied, ApplyOptions, Cluster, WriteOptions};
use canary_release::format::{counted, seconds};
use canary_release::spec::{Release, Routes};
use clap::Args;

/// Write the objects of a release to the cluster, make before break
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[command(after_help = "Examples:
  canary-ctl apply --dry-run=server   show what would be written
  canary-ctl apply --wait             write, and wait until every proxy runs it
  canary-ctl apply --force-conflicts  take back fields that others have changed

Exit codes: 0 done, 2 failed or refused.")]
pub(super) struct Apply {
    /// Wait until every proxy runs it
    #[arg(long)]
    pub(super) wait: bool,
    #[command(flatten)]
    pub(super) writes: Writes,
    /// Take over fields of other owners, and objects under our names
    #[arg(long)]
    pub(super) force_conflicts: bool,
    /// Apply a version that was rolled back; its old pins do not count
    #[arg(long)]
    pub(super) allow_rolled_back: bool,
    /// Also edit objects of Helm and other tools (`routes: inject`)
    #[arg(long)]
    pub(super) take_ownership: bool,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) async fn run(arguments: &Apply, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load_for(&arguments.spec, &arguments.cluster)?;
    let release = &document.release;
    let Apply { force_conflicts, take_ownership, .. } = *arguments;
    let how =
        WriteOptions { force_conflicts, take_ownership, ..target::write_options(&arguments.checks.skipped) };
    let cluster = target::connect_as(&arguments.cluster, how).await?;
    if let Some(by) = arguments.writes.dry_run {
        return dry_run(by, &cluster, (arguments, release), printer).await;
    }
    let applied = {
        let mut progress = target::progress(printer);
        cluster.apply(release, options(arguments, &mut progress)).await?
    };
    printer.report(&PlanReport::written(&applied.plan, arguments.cluster.connection.verbose))?;
    summarise(&release.name.to_string(), &applied, printer);
    Ok(Outcome::Done)
}

fn options<'a>(arguments: &'a Apply, progress: &'a mut dyn FnMut(usize, usize)) -> ApplyOptions<'a> {
    ApplyOptions {
        waiting: target::waiting(arguments.writes.timeout, progress),
        wait: arguments.wait,
        skipped: &arguments.checks.skipped,
        allow_rolled_back: arguments.allow_rolled_back,
    }
}

/// Prints the plan, and ends as the write would: with the refusal of a check, where one refuses.
async fn dry_run(
    by: DryRun,
    cluster: &Cluster,
    (arguments, release): (&Apply, &Release),
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let plan = cluster.plan_allowing(release, arguments.allow_rolled_back).await?;
    let plan = plan.skipping(&arguments.checks.skipped);
    if by == DryRun::Server {
        cluster.server_dry_run(&plan).await?;
    }
    printer.report(&PlanReport::new(&plan))?;
    printer.message(if plan.is_empty() { "nothing to do" } else { "nothing written" });
    cluster.check_application(release, &options(arguments, &mut |_, _| {})).await?;
    Ok(Outcome::Done)
}

fn summarise(release: &str, applied: &Applied, printer: &mut Printer) {
    let state = &applied.record.state;
    for gap in &applied.coverage.gaps {
        printer.message(&format!("{gap}: such requests may get any version"));
        printer.hint(&gap.hint().unwrap_or_default());
    }
    let canary = state.version_of(Role::Canary).filter(|_| applied.record.routes == Routes::External);
    if let (Some(canary), false) = (canary, applied.coverage.gaps.is_empty()) {
        printer.hint(&format!(
            "before the first pod of `{canary}` starts, put the routes that `canary-ctl generate routes` prints into it"
        ));
    }
    for calls in &applied.unrouted {
        printer.message(&calls.to_string());
        printer.hint(&calls.hint().unwrap_or_default());
    }
    for finding in &applied.unreached {
        printer.message(&finding.to_string());
        printer.hint(&finding.hint().unwrap_or_default());
    }
    if !applied.coverage.unmeshed_pods.is_empty() {
        printer.message(&applied.coverage.unmeshed_pods.to_string());
    }
    if !applied.coverage.ambient_pods.is_empty() {
        printer.message(&applied.coverage.ambient_pods.to_string());
        printer.hint(CALLS_OF_AMBIENT_PODS);
    }
    if applied.plan.is_empty() {
        printer.message(&format!("{release}: everything is as the file says"));
    } else {
        let objects = counted(applied.plan.changes.len(), "object", "objects");
        printer.message(&format!("{release}: {objects} written (generation {})", state.generation));
    }
    for (version, until) in &applied.record.draining {
        printer.message(&format!("`{version}` drains until {until:.0}"));
    }
    target::report_unseen(applied.arrival.as_ref(), printer);
    match &applied.arrival {
        Some(arrival) if arrival.proxies.is_empty() && arrival.not_observed.is_empty() => {
            printer.message("no proxy serves the release yet; proxies that start later run this generation");
        }
        Some(arrival) => printer.message(&format!(
            "active in {} after {}, weight {}",
            counted(arrival.proxies.len(), "proxy", "proxies"),
            seconds(arrival.waited),
            state.weight
        )),
        None => printer.hint("`canary-ctl status` says when the proxies run it"),
    }
}
