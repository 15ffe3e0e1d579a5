//! Findings of `lint` as text: place and level as compilers print them, then the hint.

use super::{Report, escape};
use canary_release::format::counted;
use canary_release::lint::{Finding, Findings, Level};
use std::fmt;

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
