//! `rollback`: read the record, check, print the impact, execute, report. There is no confirmation prompt.

use super::arguments::{self, OnCluster, Output, Writes};
use super::emergency::Emergency;
use super::inner_release::{self, InnerChange};
use super::named_release::{self, InvalidFile, NamedRelease};
use super::target::{self, ReleaseTarget};
use super::{release_context, role_change, train};
use crate::hint::Hint as _;
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::Stickiness;
use canary_operations::{CheckedRollback, Cluster, RollbackOptions};
use canary_release::record::{Record, RollbackTarget};
use canary_release::spec::{ReleaseName, Seconds};
use clap::Args;

/// Roll back the canary, or the last promotion
#[derive(Clone, Debug, Args)]
#[command(after_help = "Before a promotion, all users are on stable with their next request, unless
--drain lets sessions finish. After a promotion, the former version is stable
again, and sessions finish where they are, unless --now. There is no prompt.
Exit codes: 0 done, 1 written and not observed in every proxy, 2 failed.

Examples:
  canary-ctl rollback                   now
  canary-ctl rollback shop/shop         without its file
  canary-ctl rollback --drain 2h        sessions may finish for two hours
  canary-ctl rollback --dry-run=server  show who would lose sessions
  canary-ctl rollback --train autumn    all releases of a train")]
#[command(arg = arguments::waits_always())]
pub(super) struct Rollback {
    /// Let sessions finish within this time
    #[arg(long, value_name = "DURATION", conflicts_with = "now")]
    pub(super) drain: Option<Seconds>,
    /// End sessions too: everyone is on stable with the next request
    #[arg(long)]
    pub(super) now: bool,
    /// Roll back all canaries of a train, and promotions made together
    #[arg(long, value_name = "NAME", conflicts_with_all = ["release", "named", "file"])]
    pub(super) train: Option<String>,
    #[command(flatten)]
    pub(super) writes: Writes,
    #[command(flatten)]
    pub(super) on: OnCluster,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) async fn run(arguments: &Rollback, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let access = &arguments.on.cluster;
    if let Some(name) = &arguments.train {
        let work = train::rollback(name, arguments, printer);
        return Box::pin(Emergency::new(access, None, None).run(work)).await;
    }
    let named = named_release::find(&arguments.on.of, access, InvalidFile::Ignored)?;
    let name = named.name.clone();
    let emergency = Emergency::new(access, Some(&name), named.document.as_ref());
    Box::pin(emergency.run(roll_back(arguments, &emergency, named, printer))).await
}

async fn roll_back(
    arguments: &Rollback,
    emergency: &Emergency<'_>,
    named: NamedRelease,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let found = target::read_release(&arguments.on, named).await?;
    emergency.learn(&found.stored.record);
    inner_release::report(&found, InnerChange::Rollback, printer).await;
    let ReleaseTarget { name, cluster, stored } = found;
    target::report_record(&stored, printer);
    let skipped = &arguments.on.checks.skipped;
    let options = RollbackOptions { now: arguments.now, drain: arguments.drain, skipped };
    let rollback = cluster.check_rollback(&name, stored, options).await?;
    for line in impact(&cluster, &name, &rollback).await {
        printer.message(&line);
    }
    if rollback.deadline().is_some() {
        printer.hint(END_SESSIONS);
    }
    if let Some(found) = rollback.scaled_down() {
        found.hint().iter().for_each(|hint| printer.hint(hint));
    }
    if let Some(by) = arguments.writes.dry_run {
        return role_change::dry_run(by, &cluster, &name, &rollback.preview(), printer).await;
    }
    let scaled_down = rollback.scaled_down().cloned();
    let changed = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        cluster.roll_back(rollback, &mut waiting).await?
    };
    printer.report(&role_change::Roles::of(&name, &changed).with_scaled_down(scaled_down))?;
    target::report_record(&changed.stored, printer);
    target::report_unseen(changed.arrival.as_ref(), printer);
    afterwards(&changed.stored.record, printer);
    let Some(error) = changed.not_observed else { return Ok(Outcome::Done) };
    printer.message(&format!("written, and not observed in every proxy: {error}"));
    error.hint().iter().for_each(|hint| printer.hint(hint));
    printer.hint(
        "`canary-ctl rollback` again deletes the routes and subsets that are left, once every proxy runs it",
    );
    Ok(Outcome::Differences)
}

/// The hint that ends the drain after a rollback.
pub(super) const END_SESSIONS: &str =
    "`canary-ctl rollback --now` ends its sessions: they are on stable with their next request";

/// Which users lose what, as sentences. Costs one read of the counters: an emergency has no more time.
pub(super) async fn impact(cluster: &Cluster, name: &ReleaseName, rollback: &CheckedRollback) -> Vec<String> {
    let (RollbackTarget::Canary(from) | RollbackTarget::Promotion(from) | RollbackTarget::Draining(from)) =
        rollback.target()
    else {
        return already(rollback.record());
    };
    let (record, stickiness) = (rollback.record(), rollback.settings().stickiness);
    let mut lines = Vec::new();
    if matches!(rollback.target(), RollbackTarget::Canary(_)) {
        let weight = record.state.weight_at(release_context::now());
        let whose = match stickiness {
            Stickiness::Session => "new sessions",
            Stickiness::User => "users",
        };
        lines.push(format!("`{from}` has {weight} of the {whose}"));
    }
    lines.push(match cluster.traffic(&name.to_string(), record).await {
        Ok(traffic) => {
            let part = traffic.of(from);
            format!(
                "`{from}` has had {} of {} requests since the proxies started to count, {} of them by sessions that stay there",
                part.requests, part.of, part.sessions
            )
        }
        // A rollback does not depend on what proxies have counted.
        Err(error) => format!("the requests of `{from}` are not known: {error}"),
    });
    lines.push(match (rollback.deadline(), stickiness) {
        (Some(deadline), _) => format!("its sessions finish there until {deadline:.0}; it gets no new users"),
        (None, Stickiness::Session) => {
            "its sessions lose their state: they are on stable with their next request".to_owned()
        }
        (None, Stickiness::User) => "its users are on stable with their next request".to_owned(),
    });
    lines.extend(rollback.scaled_down().map(ToString::to_string));
    lines
}

/// Of what was rolled back before.
fn already(record: &Record) -> Vec<String> {
    let mut lines = vec!["rolled back already: what is missing of it is written".to_owned()];
    if let Ok(RollbackTarget::Draining(from)) = record.to_roll_back() {
        lines.push(format!("the sessions of `{from}` finish there; {END_SESSIONS}"));
    }
    lines
}

fn afterwards(record: &Record, printer: &mut Printer) {
    let Some(turn) = &record.role_change else { return };
    let (from, to) = (&turn.from, &turn.to);
    printer
        .hint(&format!("the file has to say `versions.stable: {to}` and no canary: an older one is refused"));
    if !record.draining.contains_key(from) {
        printer.hint(&format!(
            "the pods of `{from}` can stop: scale its Deployment to 0 replicas; the twin of a Helm chart goes with `helm rollback` to the revision \
             before it"
        ));
    }
    printer.hint(&format!(
        "a fixed build, under the label `{from}` too, comes by `canary-ctl apply --allow-rolled-back`"
    ));
}
