//! `lint`: read, judge, report.

use crate::cli::Lint;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::lint::{self, Level};
use canary_release::spec;

pub(super) fn run(arguments: &Lint, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = spec::load(&arguments.spec.file)?;
    let findings = lint::lint(&document);
    printer.report(&findings)?;
    Ok(if findings.worst() == Some(Level::Error) { Outcome::Differences } else { Outcome::Done })
}
