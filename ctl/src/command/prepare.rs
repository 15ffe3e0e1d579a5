//! `prepare`: read, say what it costs, restart, report.

use super::target;
use crate::cli::{DryRun, Prepare};
use crate::module;
use crate::report::{Printer, Report};
use crate::{Error, Outcome};
use canary_operations::{Preparation, PrepareOptions};
use canary_release::format::counted;
use std::fmt;
use std::time::Duration;

pub(super) async fn run(arguments: &Prepare, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let release = &document.release;
    let cluster = target::connect(&arguments.cluster).await?;
    let undo = arguments.undo;
    let found =
        if undo { cluster.undoing_preparation(release).await? } else { cluster.preparation(release).await? };
    if let Some(cost) = found.session_cost() {
        printer.message(&cost);
    }
    if let Some(by) = arguments.dry_run {
        if by == DryRun::Server {
            cluster.dry_run_restarts(&found, undo).await?;
        }
        printer.report(&found)?;
        printer.message(if found.restarts.is_empty() { "nothing to do" } else { "nothing written" });
        return Ok(Outcome::Done);
    }
    let done = {
        let mut progress = |step: &str| printer.message(step);
        let options = PrepareOptions {
            timeout: Duration::from_secs(arguments.timeout.get()),
            progress: &mut progress,
            skipped: &arguments.checks.skipped,
        };
        if undo {
            cluster.undo_preparation(release, options).await?
        } else {
            cluster.prepare_proxies(release, options).await?
        }
    };
    printer.report(&done)?;
    summarise(&done, undo, printer);
    Ok(Outcome::Done)
}

fn summarise(done: &Preparation, undo: bool, printer: &mut Printer) {
    match (undo, done.restarts.len()) {
        (true, 0) => printer.message("no Deployment has the label"),
        (true, _) => printer.message("the label is given back"),
        (false, 0) => {
            let proxies = counted(done.proxies.len(), "proxy", "proxies");
            printer.message(&format!("nothing to do: {proxies} can take a Wasm filter"));
        }
        (false, _) => {
            printer.message("every proxy can take a Wasm filter while it runs");
            printer.hint("`canary-ctl apply` installs the filter");
        }
    }
}

impl Report for Preparation {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for restart in &self.restarts {
            writeln!(out, "{}", restart.deployment)?;
            for proxy in &restart.proxies {
                writeln!(out, "    {proxy}")?;
            }
        }
        Ok(())
    }
}
