//! Differences between the objects of a peer and the release that was made of them.

use super::{Report, escape};
use canary_release::import::{Difference, Import, Importance};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::fmt;

/// An import: the release, its differences, the steps of the move.
pub struct ImportReport<'i>(pub &'i Import);

impl Serialize for ImportReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("ImportReport", 4)?;
        report.serialize_field("keepsGuards", &self.0.keeps_guards())?;
        report.serialize_field("differences", &self.0.differences)?;
        report.serialize_field("steps", &self.0.steps)?;
        report.serialize_field("release", &self.0.release)?;
        report.end()
    }
}

impl ImportReport<'_> {
    /// The differences, the most important first.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for importance in [Importance::Guard, Importance::Behaviour, Importance::Cosmetic] {
            let of = self.0.differences.iter().filter(|difference| difference.importance == importance);
            let of: Vec<&Difference> = of.collect();
            if !of.is_empty() {
                lines.push(format!("{} ({}):", heading(importance), of.len()));
            }
            lines.extend(of.into_iter().flat_map(entry));
        }
        lines
    }
}

const fn heading(importance: Importance) -> &'static str {
    match importance {
        Importance::Guard => "guards users",
        Importance::Behaviour => "changes behaviour",
        Importance::Cosmetic => "cosmetic",
    }
}

/// One difference: where, what, and what to do.
fn entry(difference: &Difference) -> Vec<String> {
    let line = |text: &str| escape::line(text).into_owned();
    let mut lines = vec![
        format!("  {} {}", line(&difference.origin.to_string()), difference.fate.as_str()),
        format!("    {}", line(&difference.difference)),
    ];
    if difference.action != "nothing" {
        lines.push(format!("    -> {}", line(&difference.action)));
    }
    lines
}

impl Report for ImportReport<'_> {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
