//! `promote`, `promote --finish` and `rollback` with `--train`: find the releases of a train, check all, print what will be done, do it one after the other,
//! report.
//!
//! ```text
//! promote    the called releases first
//! finish     the callers first
//! rollback   the callers first
//! report     what was done with each release, and what would be written
//! ```

mod finish;
mod promote;
mod report;
mod rollback;

pub(super) use finish::run as finish;
pub(super) use promote::run as promote;
pub(super) use rollback::run as rollback;

use super::role_change;
use super::target;
use crate::Error;
use crate::Outcome;
use crate::cli::{DryRun, OnCluster};
use crate::report::Printer;
use canary_operations::{Cluster, LeftReason, Train, TrainChange, TrainChanged, TrainStep, WaitOptions};
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

/// Prints the order.
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
