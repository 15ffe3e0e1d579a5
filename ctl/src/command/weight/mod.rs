//! `weight`: read, judge the step, write, wait, report.

mod cluster;
mod local;
mod report;

pub(super) use local::{LocalWeight, set as set_local};
pub(super) use report::Changed;

use super::target;
use crate::cli::Weigh;
use crate::module;
use crate::report::Printer;
use crate::{Error, Outcome};

pub(super) async fn run(arguments: &Weigh, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    if target::is_local(&document) {
        local::run(arguments, &document, printer).await
    } else {
        cluster::run(arguments, &document, printer).await
    }
}
