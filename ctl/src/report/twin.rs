//! What becomes of the objects of a chart, as text.

use super::{Report, Table, escape};
use crate::hint::Hint as _;
use canary_release::format::counted;
use helm_twins::{Action, Refusal, TwinDecision, TwinPlan};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Every object of a chart, what becomes of it and why, and in what it differs from stable.
#[derive(Serialize)]
#[serde(transparent)]
pub struct TwinDiffReport(pub TwinPlan);

/// Refusals and warnings.
#[derive(Serialize)]
pub struct TwinCheckReport {
    refusals: Vec<Refusal>,
    warnings: Vec<String>,
    /// Objects by what becomes of them.
    counts: Vec<(Action, usize)>,
}

impl TwinCheckReport {
    /// The report about a plan.
    pub fn of(plan: TwinPlan) -> Self {
        let mut counts: Vec<(Action, usize)> = Vec::new();
        for decision in &plan.decisions {
            match counts.iter_mut().find(|(action, _)| *action == decision.action) {
                Some((_, count)) => *count += 1,
                None => counts.push((decision.action, 1)),
            }
        }
        counts.sort_unstable();
        Self { refusals: plan.refusals, warnings: plan.warnings, counts }
    }
}

const fn word(action: Action) -> &'static str {
    match action {
        Action::Twinned => "twinned",
        Action::Shared => "shared",
        Action::Added => "added",
        Action::Rendered => "rendered",
        Action::Skipped => "skipped",
        Action::Gone => "gone",
    }
}

/// A value on one line, no longer than a terminal is wide.
fn short(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "none".to_owned(), Value::to_string);
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    escape::line(&start).into_owned()
}

fn write_problems(refusals: &[Refusal], warnings: &[String], out: &mut dyn fmt::Write) -> fmt::Result {
    for refusal in refusals {
        writeln!(out, "refused: {}", escape::line(&refusal.to_string()))?;
        if let Some(hint) = refusal.hint() {
            writeln!(out, "  hint: {}", escape::line(&hint))?;
        }
    }
    warnings.iter().try_for_each(|warning| writeln!(out, "warning: {}", escape::line(warning)))
}

impl Report for TwinDiffReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["KIND", "NAME", "ACTION", "DEPLOYED AS", "WHY"]);
        for TwinDecision { kind, name, action, deployed_name, reason, .. } in &self.0.decisions {
            table.row([
                kind.clone(),
                name.clone(),
                word(*action).to_owned(),
                deployed_name.clone(),
                reason.clone(),
            ]);
        }
        write!(out, "{table}")?;
        for decision in self.0.decisions.iter().filter(|one| !one.differences.is_empty()) {
            writeln!(out, "\n{} {}:", escape::line(&decision.kind), escape::line(&decision.name))?;
            for difference in &decision.differences {
                let (stable, candidate) =
                    (short(difference.stable.as_ref()), short(difference.candidate.as_ref()));
                writeln!(out, "  {}: {stable} -> {candidate}", escape::line(&difference.field))?;
            }
        }
        if !(self.0.refusals.is_empty() && self.0.warnings.is_empty()) {
            writeln!(out)?;
        }
        write_problems(&self.0.refusals, &self.0.warnings, out)
    }
}

impl Report for TwinCheckReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write_problems(&self.refusals, &self.warnings, out)?;
        let counts: Vec<_> =
            self.counts.iter().map(|(action, count)| format!("{count} {}", word(*action))).collect();
        let objects = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
        writeln!(
            out,
            "{}, {}; objects: {objects}",
            counted(self.refusals.len(), "refusal", "refusals"),
            counted(self.warnings.len(), "warning", "warnings")
        )
    }
}
