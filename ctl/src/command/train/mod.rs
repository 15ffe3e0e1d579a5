//! `promote`, `promote --finish` and `rollback` with `--train`: find the releases of a train, check all, print what will be done, do it one after the other,
//! report.
//!
//! ```text
//! promote    the called releases first
//! finish     the callers first
//! rollback   the callers first
//! report     what was done with each release, and what would be written
//! ```

mod report;

use super::arguments::{DryRun, OnCluster};
use super::{role_change, target};
use crate::command::promote::Promote;
use crate::command::rollback::Rollback;
use crate::command::{promote, rollback};
use crate::hint::{Hint, ShellCommand};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{
    Cluster, LeftReason, PromoteOptions, RollbackOptions, Train, TrainChange, TrainChanged, TrainStep,
    WaitOptions,
};
use canary_release::preflight::PreflightCheck;
use canary_release::record::Record;
use canary_release::spec::{ReleaseName, Seconds};
use report::{PlannedRelease, TrainPlan, TrainReport};
use std::cell::RefCell;

/// Finds the releases, and prints the order in which they are promoted.
async fn find(name: &str, on: &OnCluster) -> Result<(Cluster, Train), Error> {
    let cluster = target::connect_as(&on.cluster, target::write_options(&on.checks.skipped)).await?;
    let namespaces: Vec<String> = on.cluster.namespace.iter().map(ToString::to_string).collect();
    let train = cluster.train(name, &namespaces).await?;
    Ok((cluster, train))
}

fn announce_order<'r>(train: &str, releases: impl Iterator<Item = &'r ReleaseName>, printer: &mut Printer) {
    let order: Vec<String> = releases.map(ToString::to_string).collect();
    printer.message(&format!("train {train}: {}", order.join(", then ")));
}

/// Prints what is not changed, and why.
fn announce_left<'r>(left: impl Iterator<Item = (&'r ReleaseName, &'r LeftReason)>, printer: &mut Printer) {
    for (release, reason) in left {
        printer.message(&format!("{release} is left as it is: {reason}"));
    }
}

/// Prints what would be written for these records; with `server` the API server validates it.
async fn dry_run(
    (by, train): (DryRun, &str),
    cluster: &Cluster,
    records: Vec<(ReleaseName, Record)>,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let mut releases = Vec::new();
    for (name, record) in records {
        let plan = cluster.unfinished(&name, &record).await?;
        if by == DryRun::Server {
            cluster.server_dry_run(&plan).await?;
        }
        releases.push(PlannedRelease::new(&name, plan));
    }
    printer.report(&TrainPlan::new(train, releases))?;
    printer.message("nothing written");
    Ok(Outcome::Done)
}

/// Changes the roles of the releases, prints each step as it is made, and reports all.
async fn carry_out(
    (train, timeout): (&str, Seconds),
    printer: &mut Printer,
    change: impl AsyncFnOnce(
        &mut WaitOptions<'_>,
        &mut dyn FnMut(&TrainStep),
    ) -> Result<TrainChanged, canary_operations::Error>,
) -> Result<TrainChanged, Error> {
    let changed = {
        let printer = RefCell::new(&mut *printer);
        let (mut progress, mut told) = (progress(&printer), told(&printer));
        let mut waiting = target::waiting(timeout, &mut progress);
        change(&mut waiting, &mut told).await?
    };
    printer.report(&TrainReport::new(train, &changed))?;
    Ok(changed)
}

/// Prints how many proxies run what was written.
fn progress(printer: &RefCell<&mut Printer>) -> impl FnMut(usize, usize) {
    let mut last = None;
    move |running, all| {
        if last.replace((running, all)) != Some((running, all)) {
            printer.borrow_mut().message(&format!("{running} of {all} proxies run it"));
        }
    }
}

/// Prints what was done with a release.
fn told(printer: &RefCell<&mut Printer>) -> impl FnMut(&TrainStep) {
    move |step| {
        let mut printer = printer.borrow_mut();
        match &step.change {
            TrainChange::Changed(changed) => {
                let roles = role_change::Roles::of(&step.release, changed);
                printer.message(&roles.line());
                target::report_unseen(changed.arrival.as_ref(), &mut printer);
            }
            TrainChange::Left(reason) => {
                printer.message(&format!("{} is left as it is: {reason}", step.release));
            }
        }
    }
}

pub(super) async fn finish(name: &str, arguments: &Promote, printer: &mut Printer) -> Result<Outcome, Error> {
    let (cluster, train) = find(name, &arguments.on).await?;
    announce_order(name, train.releases.iter().rev().map(|release| &release.name), printer);
    let skipped = &arguments.on.checks.skipped;
    if let Some(by) = arguments.writes.dry_run {
        let checked = cluster.check_train_finish(&train, &PreflightCheck::ALL).await?;
        for (release, finish) in checked.changes() {
            finish.early().iter().for_each(|message| printer.message(&format!("{release}: {message}")));
        }
        let previews = checked.changes().map(|(name, finish)| (name.clone(), finish.preview()));
        dry_run((by, name), &cluster, previews.collect(), printer).await?;
        let checked = cluster.check_train_finish(&train, skipped).await?;
        cluster.check_train_finish_begins(&checked).await?;
        return Ok(Outcome::Done);
    }
    let checked = cluster.check_train_finish(&train, skipped).await?;
    carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.finish_train(checked, waiting, told)).await
    })
    .await?;
    Ok(Outcome::Done)
}

pub(super) async fn promote(
    name: &str,
    arguments: &Promote,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (cluster, train) = find(name, &arguments.on).await?;
    announce_order(name, train.releases.iter().map(|release| &release.name), printer);
    let options = PromoteOptions { drain: arguments.drain, skipped: &arguments.on.checks.skipped };
    let checked = Box::pin(cluster.check_train_promotion(&train, options)).await?;
    for (release, promotion) in checked.changes() {
        printer.message(&format!("{release}: {}", promote::impact(promotion)));
        if let Some(undersized) = promotion.undersized() {
            printer.message(&format!("{release}: {undersized}"));
            undersized.hint().iter().for_each(|hint| printer.hint(hint));
        }
    }
    if let Some(by) = arguments.writes.dry_run {
        announce_left(checked.left(), printer);
        let previews = checked.changes().map(|(name, promotion)| (name.clone(), promotion.preview()));
        dry_run((by, name), &cluster, previews.collect(), printer).await?;
        cluster.check_train_promotion_begins(&checked).await?;
        return Ok(Outcome::Done);
    }
    let changed = carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.promote_train(checked, waiting, told)).await
    })
    .await?;
    for step in &changed.steps {
        if let TrainChange::Changed(changed) = &step.change {
            promote::afterwards(Some(&step.release), &changed.stored.record, printer);
        }
    }
    Ok(Outcome::Done)
}

pub(super) async fn rollback(
    name: &str,
    arguments: &Rollback,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (cluster, train) = find(name, &arguments.on).await?;
    announce_order(name, train.releases.iter().rev().map(|release| &release.name), printer);
    let skipped = &arguments.on.checks.skipped;
    let options = RollbackOptions { now: arguments.now, drain: arguments.drain, skipped };
    let checked = Box::pin(cluster.check_train_rollback(&train, options)).await?;
    for (release, rollback) in checked.changes() {
        for line in rollback::impact(&cluster, release, rollback).await {
            printer.message(&format!("{release}: {line}"));
        }
        if let Some(hint) = rollback.scaled_down().and_then(Hint::hint) {
            printer.hint(&hint);
        }
    }
    if let Some(by) = arguments.writes.dry_run {
        announce_left(checked.left(), printer);
        let previews = checked.changes().map(|(name, rollback)| (name.clone(), rollback.preview()));
        return dry_run((by, name), &cluster, previews.collect(), printer).await;
    }
    let changed = carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.roll_train_back(checked, waiting, told)).await
    })
    .await?;
    let late = changed.steps.iter().find_map(|step| match &step.change {
        TrainChange::Changed(changed) => Some((&step.release, changed.not_observed.as_ref()?)),
        TrainChange::Left(_) => None,
    });
    let Some((release, error)) = late else { return Ok(Outcome::Done) };
    printer.message(&format!("{release}: written, and not observed in every proxy: {error}"));
    error.hint().iter().for_each(|hint| printer.hint(hint));
    let again = ShellCommand::new("canary-ctl rollback --train").name(name, "TRAIN");
    printer.hint(&format!("{again} again goes on, once every proxy runs it"));
    Ok(Outcome::Differences)
}
