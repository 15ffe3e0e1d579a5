//! `lint`: read, judge, report.

use super::arguments::{Output, SpecFile};
use crate::report::{Printer, Report, escape};
use crate::{Error, Outcome, module};
use canary_release::format::counted;
use canary_release::lint::{self, Finding, Findings, Level};
use clap::Args;
use std::fmt;

/// Report dangerous settings of a release
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl lint -f canary.yaml

Exit codes: 0 no error found, 1 an error was found, 2 failed.")]
pub(super) struct Lint {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) output: Output,
}

pub(super) fn run(arguments: &Lint, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    let findings = lint::lint(&document);
    printer.report(&findings)?;
    Ok(if findings.worst() == Some(Level::Error) { Outcome::Differences } else { Outcome::Done })
}

/// Place and level as compilers print them, then the hint.
impl Report for Findings {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for finding in &self.findings {
            let Finding { level, line, column, message, hint, .. } = finding;
            let (message, hint) = (escape::line(message), escape::line(hint));
            writeln!(out, "{}:{line}:{column}: {}: {message}", self.file, level.as_str())?;
            writeln!(out, "  hint: {hint}")?;
        }
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let (errors, warnings, infos) = (count(Level::Error), count(Level::Warning), count(Level::Info));
        let errors = counted(errors, "error", "errors");
        let warnings = counted(warnings, "warning", "warnings");
        writeln!(out, "{}: {errors}, {warnings}, {}", self.file, counted(infos, "info", "infos"))
    }
}
