//! `diff`: read, plan, report; exit code 1 where there are differences.

use super::arguments::{ClusterAccess, Output, SpecFile};
use super::target;
use crate::report::{PlanReport, Printer};
use crate::{Error, Outcome};
use clap::Args;

/// Show what `apply` would change on the cluster
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit codes: 0 no differences, 1 differences, 2 failed.

Examples:
  canary-ctl diff
  canary-ctl diff -f shop.yaml --context staging
  canary-ctl diff -o json | jq '.changes[].object'")]
pub(super) struct Diff {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) async fn run(arguments: &Diff, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load_for(&arguments.spec, &arguments.cluster)?;
    let cluster = target::connect(&arguments.cluster).await?;
    let plan = cluster.plan(&document.release).await?;
    printer.report(&PlanReport::new(&plan))?;
    if plan.is_empty() {
        printer.message("no differences");
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Differences)
}
