//! `lint`: read, judge, report.

use crate::cli::Lint;
use crate::lint::{self, Level};
use crate::report::Printer;
use crate::{Error, Outcome, spec};

pub(super) fn run(arguments: &Lint, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = spec::load(&arguments.spec.file)?;
    let findings = lint::judge(&document);
    printer.report(&findings)?;
    Ok(if findings.worst() == Some(Level::Error) { Outcome::No } else { Outcome::Done })
}
