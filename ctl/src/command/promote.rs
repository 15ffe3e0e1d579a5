//! `promote` and `promote --finish`: read the record, check, print the impact, carry out, report.

use super::arguments::{OnCluster, Output, Writes};
use super::named_release::InvalidFile;
use super::target::{self, ReleaseTarget};
use super::{release_context, role_change, train};
use crate::hint::Hint;
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::Weight;
use assignment::contract::{Role, Stickiness};
use canary_operations::{CheckedPromotion, Cluster, PromoteOptions, StoredRecord};
use canary_release::preflight::PreflightCheck;
use canary_release::record::Record;
use canary_release::spec::{ReleaseName, Routes, Seconds};
use clap::Args;

/// Make the canary stable: the former version drains, and no session moves
#[derive(Clone, Debug, Args)]
#[command(after_help = "New users are on the new stable version at once. Sessions stay where they are:
the old version keeps its pods, route and subset until `promote --finish`. With
`stickiness: user` the remaining users move. Nothing is scaled.
`canary-ctl rollout promote` is for a release whose rollout is not over.

Exit codes: 0 done, 2 failed or refused.

Examples:
  canary-ctl promote --dry-run        show who would move
  canary-ctl promote --wait           wait until every proxy does it
  canary-ctl promote --finish         after the drain: delete old routes
  canary-ctl promote --train autumn   all releases of a train, callers last
  canary-ctl promote --finish --train autumn")]
pub(super) struct Promote {
    /// Drain time of the former version [default: `session.maxAge`]
    #[arg(long, value_name = "DURATION", conflicts_with = "finish")]
    pub(super) drain: Option<Seconds>,
    /// End the drain: sessions move to stable with their next request, and routes and subsets are deleted
    #[arg(long)]
    pub(super) finish: bool,
    /// Promote all releases of a train, each before those that call it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["release", "named", "file"])]
    pub(super) train: Option<String>,
    #[command(flatten)]
    pub(super) writes: Writes,
    /// Wait until every proxy runs it (`--finish` and `--train` always do)
    #[arg(long)]
    pub(super) wait: bool,
    #[command(flatten)]
    pub(super) on: OnCluster,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) async fn run(arguments: &Promote, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    match (&arguments.train, arguments.finish) {
        (Some(name), true) => return Box::pin(train::finish(name, arguments, printer)).await,
        (Some(name), false) => return Box::pin(train::promote(name, arguments, printer)).await,
        (None, _) => {}
    }
    let target = target::connect_release(&arguments.on, InvalidFile::Refused).await?;
    if arguments.finish {
        return Box::pin(finish(arguments, target, printer)).await;
    }
    let ReleaseTarget { name, cluster, stored } = target;
    let options = PromoteOptions { drain: arguments.drain, skipped: &arguments.on.checks.skipped };
    let promotion = cluster.check_promotion(&name, stored, options).await?;
    printer.message(&impact(&promotion));
    target::report_pods(promotion.undersized(), printer);
    if let Some(by) = arguments.writes.dry_run {
        role_change::dry_run(by, &cluster, &name, &promotion.preview(), printer).await?;
        cluster.check_promotion_begins(&promotion).await?;
        return Ok(Outcome::Done);
    }
    let changed = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        Box::pin(cluster.promote(promotion, &mut waiting, arguments.wait)).await?
    };
    printer.report(&role_change::Roles::of(&name, &changed))?;
    target::report_unseen(changed.arrival.as_ref(), printer);
    afterwards(None, &changed.stored.record, printer);
    Ok(Outcome::Done)
}

/// Which users move.
pub(super) fn impact(promotion: &CheckedPromotion<'_>) -> String {
    let Some(canary) = promotion.canary() else {
        return "promoted already: what is missing of it is written".to_owned();
    };
    let state = &promotion.record().state;
    let stable = state.version_of(Role::Stable).unwrap_or_default();
    let from = state.weight_at(release_context::now());
    match promotion.settings().stickiness {
        Stickiness::Session => format!(
            "no session moves; `{canary}` gets {} of the new ones instead of {from}, `{stable}` drains for {}",
            Weight::FULL,
            promotion.drain().map_or_else(|| "no time".to_owned(), |drain| drain.to_string()),
        ),
        Stickiness::User => {
            format!("{} of the users move from `{stable}` to `{canary}` with their next request", rest(from))
        }
    }
}

/// The share of users on stable.
fn rest(weight: Weight) -> Weight {
    let points = u32::from(Weight::FULL.basis_points().saturating_sub(weight.basis_points()));
    Weight::new(points).unwrap_or(Weight::FULL)
}

/// Prints the next steps of the operator. `release` names the one of several.
pub(super) fn afterwards(release: Option<&ReleaseName>, record: &Record, printer: &mut Printer) {
    let stable = record.state.version_of(Role::Stable).unwrap_or_default();
    let file = release.map_or_else(|| "the file".to_owned(), |release| format!("the file of {release}"));
    printer.hint(&format!(
        "set `versions.stable: {stable}` in {file} and take `versions.canary` out: an older file is refused"
    ));
    if record.routes == Routes::External {
        printer.hint(&format!(
            "the routes are yours: let the default route of every path name the subset of `{stable}`"
        ));
    }
    if record.routes == Routes::GatewayApi {
        printer.hint(&format!(
            "let Service `{}` select `{stable}` before the old pods go: what no route takes gets its pods; `canary-ctl status` prints the command",
            record.service.name
        ));
    }
    if release.is_none() && !record.draining.is_empty() {
        printer.hint("leave the old pods; `canary-ctl promote --finish` takes their routes away when they have drained");
    }
}

/// The end of a drain, in order: ignored by the filter everywhere, then routes, then subsets.
async fn finish(arguments: &Promote, target: ReleaseTarget, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } = target;
    if stored.record.draining.is_empty() && stored.record.leaving.is_empty() {
        printer.message("no version drains");
    }
    announce_end(&cluster, &name, &stored, printer).await?;
    let skipped = &arguments.on.checks.skipped;
    if let Some(by) = arguments.writes.dry_run {
        let end = cluster.check_finish(&name, stored.clone(), &PreflightCheck::ALL)?;
        end.early().iter().for_each(|message| printer.message(message));
        role_change::dry_run(by, &cluster, &name, &end.preview(), printer).await?;
        cluster.check_finish_begins(&cluster.check_finish(&name, stored, skipped)?).await?;
        return Ok(Outcome::Done);
    }
    let end = cluster.check_finish(&name, stored, skipped)?;
    let versions = end.versions().join(", ");
    let changed = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        Box::pin(cluster.finish(end, &mut waiting)).await?
    };
    printer.report(&role_change::Roles::of(&name, &changed))?;
    target::report_unseen(changed.arrival.as_ref(), printer);
    if !versions.is_empty() {
        printer.hint(&format!("nothing leads to the pods of {versions} any more"));
    }
    // The promotion is finished: what cannot be read is left out.
    let unfinished = cluster.unfinished_deployments(&name, &changed.stored.record).await.unwrap_or_default();
    for hint in unfinished.iter().filter_map(Hint::hint) {
        printer.hint(&hint);
    }
    Ok(Outcome::Done)
}

/// Prints how many requests the versions that drain still get.
async fn announce_end(
    cluster: &Cluster,
    name: &ReleaseName,
    stored: &StoredRecord,
    printer: &mut Printer,
) -> Result<(), Error> {
    let versions = stored.record.draining_versions();
    if versions.is_empty() {
        return Ok(());
    }
    let traffic = role_change::watch(name, stored, cluster).await?;
    for version in &versions {
        printer.message(&role_change::said(version, traffic.of(version), role_change::WINDOW));
    }
    Ok(())
}
