//! `promote`: read the record, judge, say who moves, write make before break, wait, report. And its end, `--finish`.

use super::target::{self, Subject};
use super::{role_change, situation};
use crate::cli::Promote;
use crate::cluster::EffectiveSettings;
use crate::plan::{PreflightCheck, Record, check_step, drains_for, ends_after};
use crate::report::Printer;
use crate::spec::{Routes, Seconds};
use crate::{Error, Outcome};
use assignment::Weight;
use assignment::contract::{Role, Stickiness};
use jiff::Timestamp;

pub(super) async fn run(arguments: &Promote, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let subject = target::subject(&arguments.on).await?;
    if arguments.finish {
        return finish(arguments, subject, printer).await;
    }
    let Subject { name, cluster, stored } = &subject;
    let skipped = &arguments.on.checks.skipped;
    cluster.check_pause(&stored.record, skipped)?;
    let settings = cluster.effective_settings(name, stored).await?;
    let drain = arguments.drain.or_else(|| drains_for(settings.stickiness, settings.max_age));
    let is_new = match stored.record.to_promote().map_err(crate::cluster::Error::from)? {
        Some(canary) => {
            // Everybody new is sent only where somebody serves, and where a route leads.
            cluster.check_canary(name, &stored.record, skipped).await?;
            announce(&stored.record, canary, settings, drain, printer);
            true
        }
        None => false,
    };
    if let Some(by) = arguments.writes.dry_run {
        return role_change::server_dry_run(
            by,
            &subject,
            |record| record.promote(ends_after(drain), ""),
            printer,
        )
        .await;
    }
    if is_new {
        let from = stored.record.standing.weight_at(situation::now());
        check_step(stored.record.max_step, from, Weight::FULL, skipped)?;
        up_to_date(arguments, &subject, printer).await?;
    } else {
        printer.message("promoted already: what is missing of it is written");
    }
    let turned = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        let wait = arguments.wait.then_some(&mut waiting);
        cluster.promote(name, stored.clone(), ends_after(drain), wait).await?
    };
    printer.report(&role_change::Roles::of(name, &turned))?;
    afterwards(&turned.stored.record, printer);
    Ok(Outcome::Done)
}

/// A lagging proxy would get a default route to pods that it may not know.
async fn up_to_date(arguments: &Promote, subject: &Subject, printer: &mut Printer) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let mut progress = target::progress(printer);
    let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
    cluster.wait(&name.to_string(), &stored.record, &mut waiting).await?;
    Ok(())
}

/// Says who moves, before anybody does.
fn announce(
    record: &Record,
    canary: &str,
    settings: EffectiveSettings,
    drain: Option<Seconds>,
    printer: &mut Printer,
) {
    let stable = record.standing.version_of(Role::Stable).unwrap_or_default();
    let from = record.standing.weight_at(situation::now());
    match settings.stickiness {
        Stickiness::Session => printer.message(&format!(
            "no session moves; `{canary}` gets {} of the new ones instead of {from}, `{stable}` drains for {}",
            Weight::FULL,
            drain.map_or_else(|| "no time".to_owned(), |drain| drain.to_string()),
        )),
        Stickiness::User => printer.message(&format!(
            "{} of the users move from `{stable}` to `{canary}` with their next request",
            rest(from)
        )),
    }
}

/// Everybody who is not on the canary.
fn rest(weight: Weight) -> Weight {
    let points = u32::from(Weight::FULL.basis_points().saturating_sub(weight.basis_points()));
    Weight::new(points).unwrap_or(Weight::FULL)
}

/// What the operator has to do, now and later.
fn afterwards(record: &Record, printer: &mut Printer) {
    let stable = record.standing.version_of(Role::Stable).unwrap_or_default();
    printer.hint(&format!(
        "set `versions.stable: {stable}` in the file and take `versions.canary` out: an older file is refused"
    ));
    if record.routes == Routes::External {
        printer.hint(&format!(
            "the routes are yours: let the default route of every path name the subset of `{stable}`"
        ));
    }
    if !record.draining.is_empty() {
        printer.hint("leave the old pods; `canary-ctl promote --finish` takes their routes away when they have drained");
    }
}

/// The end of a drain, in order: ignored by the filter everywhere, then routes, then subsets.
async fn finish(arguments: &Promote, subject: Subject, printer: &mut Printer) -> Result<Outcome, Error> {
    let Subject { name, cluster, stored } = &subject;
    let versions = stored.record.draining_versions();
    if versions.is_empty() && stored.record.leaving.is_empty() {
        printer.message("no version drains");
    }
    if !versions.is_empty() {
        check_end(arguments, &subject, &versions, printer).await?;
    }
    if let Some(by) = arguments.writes.dry_run {
        let turn = |record: &mut Record| {
            record.finish(&versions, "");
            record.leaving.clear();
        };
        return role_change::server_dry_run(by, &subject, turn, printer).await;
    }
    let turned = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        cluster.finish(name, stored.clone(), &versions, &mut waiting).await?
    };
    printer.report(&role_change::Roles::of(name, &turned))?;
    if !versions.is_empty() {
        printer.hint(&format!("nothing leads to the pods of {} any more", versions.join(", ")));
    }
    Ok(Outcome::Done)
}

/// Says whose sessions would end, and refuses it before their deadline.
async fn check_end(
    arguments: &Promote,
    subject: &Subject,
    versions: &[String],
    printer: &mut Printer,
) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let traffic = role_change::watch(name, stored, cluster).await?;
    for version in versions {
        printer.message(&role_change::said(version, traffic.of(version), role_change::WINDOW));
    }
    let now = Timestamp::now();
    for version in versions.iter().filter(|version| !stored.record.is_overdue(version, now)) {
        let deadline = stored.record.draining.get(version).copied().unwrap_or(now);
        let message = format!("`{version}` drains until {deadline:.0}: its sessions would lose their state");
        if arguments.writes.dry_run.is_some() {
            printer.message(&message);
        } else {
            PreflightCheck::MovesUsers.refuse(&arguments.on.checks.skipped, message, "wait")?;
        }
    }
    Ok(())
}
