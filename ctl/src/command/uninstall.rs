//! `uninstall`: read the record, ask twice where users would move, take away, report.

use super::target::{self, Subject};
use crate::cli::Uninstall;
use crate::plan::PreflightCheck;
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::Weight;

pub(super) async fn run(arguments: &Uninstall, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let Subject { name, cluster, stored } = target::subject(&arguments.on).await?;
    if arguments.dry_run {
        printer.report(&cluster.removal(&name, &stored).await?)?;
        printer.message("nothing taken away");
        return Ok(Outcome::Done);
    }
    let weight = stored.record.standing.weight;
    let skipped = &arguments.on.checks.skipped;
    cluster.check_pause(&stored.record, skipped)?;
    if weight > Weight::ZERO {
        let message = format!("`{name}` has {weight} of its users on the canary: they would be moved");
        PreflightCheck::MovesUsers.refuse(skipped, message, "`canary-ctl weight 0` first")?;
    }
    let plan = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.timeout, &mut progress);
        cluster.uninstall(&name, stored, &mut waiting).await?
    };
    printer.report(&plan)?;
    printer.message(&format!("{name}: taken off the cluster; its keys stay"));
    Ok(Outcome::Done)
}
