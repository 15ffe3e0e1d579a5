//! `diff`: read, plan, report; exit code 1 where there are differences.

use super::target;
use crate::cli::Diff;
use crate::module;
use crate::report::{PlanReport, Printer};
use crate::{Error, Outcome};

pub(super) async fn run(arguments: &Diff, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let cluster = target::connect(&arguments.cluster).await?;
    let plan = cluster.plan(&document.release).await?;
    printer.report(&PlanReport::new(&plan))?;
    if plan.is_empty() {
        printer.message("no differences");
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Differences)
}
