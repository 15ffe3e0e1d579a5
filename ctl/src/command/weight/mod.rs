//! `weight`: read, judge the step, write, wait, report.

mod cluster;
mod local;
mod report;

pub(super) use local::{LocalWeight, set as set_local};
pub(super) use report::Changed;

use super::target;
use crate::cli::Weigh;
use crate::report::Printer;
use crate::{Error, Outcome};

pub(super) async fn run(arguments: &Weigh, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load(&arguments.spec, arguments.release.as_deref())?;
    match document.as_ref().filter(|document| target::is_local(document)) {
        Some(document) => local::run(arguments, document, printer).await,
        None => cluster::run(arguments, document.as_ref(), printer).await,
    }
}
