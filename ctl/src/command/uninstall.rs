//! `uninstall`: read the record, carry out, report.

use super::target::{self, ReleaseTarget};
use crate::cli::Uninstall;
use crate::report::{PlanReport, Printer};
use crate::{Error, Outcome};

pub(super) async fn run(arguments: &Uninstall, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
    if arguments.dry_run {
        let plan = cluster.removal(&name, &stored).await?;
        printer.report(&PlanReport::new(&plan))?;
        printer.message("nothing taken away");
        return Ok(Outcome::Done);
    }
    let plan = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.timeout, &mut progress);
        cluster.uninstall(&name, stored, &arguments.on.checks.skipped, &mut waiting).await?
    };
    printer.report(&PlanReport::new(&plan))?;
    printer.message(&format!("{name}: taken off the cluster; its keys stay"));
    Ok(Outcome::Done)
}
