//! `lint`: read, judge, report.

use crate::cli::Lint;
use crate::module;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::lint::{self, Level};

pub(super) fn run(arguments: &Lint, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    let findings = lint::lint(&document);
    printer.report(&findings)?;
    Ok(if findings.worst() == Some(Level::Error) { Outcome::Differences } else { Outcome::Done })
}
