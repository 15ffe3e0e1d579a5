//! The findings of the rules, and their text.

use crate::file::Origin;
use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// May surprise users.
    Warning,
    /// Breaks a promise.
    Error,
}

impl Level {
    /// The level in lower case, as JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A finding of a rule, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawFinding {
    pub(super) level: Level,
    /// The field it is about, `spec.identifyBy[0]`.
    pub(super) field: String,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The identifier by which scripts know the rule.
    pub id: &'static str,
    /// The severity.
    pub level: Level,
    /// The field, `spec.identifyBy[0]`.
    pub field: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// The danger.
    pub message: String,
    /// The remedy.
    pub hint: &'static str,
}

/// All findings about a file, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The file.
    pub file: String,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Findings {
    pub(super) fn new(origin: &Origin, raised: impl Iterator<Item = (&'static str, RawFinding)>) -> Self {
        let place = |(id, raised): (&'static str, RawFinding)| {
            let place = origin.place(&raised.field);
            let RawFinding { level, field, message, hint } = raised;
            Finding { id, level, field, line: place.line, column: place.column, message, hint }
        };
        let mut findings: Vec<Finding> = raised.map(place).collect();
        findings.sort_by_key(|finding| (finding.line, finding.column));
        Self { file: origin.path.display().to_string(), findings }
    }

    /// The worst level, `None` if nothing was found.
    pub fn worst(&self) -> Option<Level> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}
