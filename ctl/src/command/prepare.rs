//! `prepare`: read, say what it costs, restart, report.

use super::arguments::{self, ClusterAccess, DryRun, Output, SkipChecks, SpecFile};
use super::target;
use crate::report::{Printer, Report};
use crate::{Error, Outcome};
use canary_operations::{Preparation, PrepareOptions};
use canary_release::format::counted;
use canary_release::spec::Seconds;
use clap::Args;
use std::fmt;
use std::time::Duration;

/// Restart the proxies that would crash on their first Wasm filter
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl prepare --dry-run  show which Deployments would be restarted
  canary-ctl prepare            restart them, one Deployment after the other
  canary-ctl prepare --undo     remove the label, which restarts them once more

An Envoy before 1.38 (Istio before 1.30) on a processor with memory protection
keys crashes if its first Wasm filter comes while it runs. A proxy that starts
with V8 does not. `prepare` writes one label of each Deployment's pod template:
canary-ctl.io/wasm-runtime. After an interruption the same call continues.

Exit codes: 0 done, 2 failed or refused.")]
#[command(arg = arguments::waits_always())]
pub(super) struct Prepare {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// Give the label back, and delete what makes V8 where no release needs it
    #[arg(long)]
    pub(super) undo: bool,
    /// Write nothing: print what would be restarted (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(super) dry_run: Option<DryRun>,
    /// How long to wait for each Deployment, and for V8 in its proxies
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    pub(super) timeout: Seconds,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) async fn run(arguments: &Prepare, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load_for(&arguments.spec, &arguments.cluster)?;
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
        found.check_sessions(&arguments.checks.skipped)?;
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
