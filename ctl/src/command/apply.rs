//! `apply`: read, plan, write make before break, wait, report.

use super::target;
use crate::cli::{Apply, DryRun};
use crate::cluster::{Applied, ApplyOptions, WriteOptions};
use crate::report::{Printer, seconds};
use crate::{Error, Outcome, spec};

pub(super) async fn run(arguments: &Apply, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = spec::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let release = &document.release;
    let Apply { force_conflicts, take_over, .. } = *arguments;
    let how = WriteOptions { force_conflicts, take_over, ..WriteOptions::default() };
    let cluster = target::connect_as(&arguments.cluster, how).await?;
    if let Some(by) = arguments.writes.dry_run {
        let plan = cluster.plan_again(release, arguments.again).await?;
        if by == DryRun::Server {
            cluster.server_dry_run(&plan).await?;
        }
        printer.report(&plan)?;
        printer.message(if plan.is_empty() { "nothing to do" } else { "nothing written" });
        return Ok(Outcome::Done);
    }
    let applied = {
        let mut progress = target::progress(printer);
        let waiting = target::waiting(arguments.writes.timeout, &mut progress);
        let how = ApplyOptions {
            waiting,
            wait: arguments.wait,
            skipped: &arguments.checks.skipped,
            again: arguments.again,
        };
        cluster.apply(release, how).await?
    };
    printer.report(&applied.plan)?;
    summarise(&release.name.to_string(), &applied, printer);
    Ok(Outcome::Done)
}

fn summarise(release: &str, applied: &Applied, printer: &mut Printer) {
    let standing = &applied.record.standing;
    for gap in &applied.coverage.gaps {
        printer.message(&format!("{gap}: whoever comes by it may get any version"));
        printer.hint(gap.instead);
    }
    if !applied.coverage.outsiders.is_nobody() {
        printer.message(&applied.coverage.outsiders.to_string());
    }
    if applied.plan.is_empty() {
        printer.message(&format!("{release}: everything is as the file says"));
    } else {
        let count = applied.plan.changes.len();
        printer.message(&format!("{release}: {count} objects written (generation {})", standing.generation));
    }
    match &applied.arrival {
        Some(arrival) if arrival.proxies.is_empty() => {
            printer.message("no proxy serves it yet; those that come begin with it");
        }
        Some(arrival) => printer.message(&format!(
            "active in {} proxies after {}, weight {}",
            arrival.proxies.len(),
            seconds(arrival.waited),
            standing.weight
        )),
        None => printer.hint("`canary-ctl status` says when the proxies run it"),
    }
}
