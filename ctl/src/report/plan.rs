//! A plan as text: an object a line, and a line for each field unless the plan is written already.

use super::{PaintedText, Report, escape};
use canary_release::object::Field;
use canary_release::plan::{Action, Change, Plan, PlanNote};
use serde::Serialize;
use serde_json::Value;
use std::fmt::{self, Write as _};

/// Longer values are cut: a configuration is a page.
const MAX_VALUE: usize = 120;

/// A plan, with its notes as a user of the terminal tool reads them.
#[derive(Clone, Debug, Serialize)]
pub struct PlanReport<'p> {
    changes: &'p [Change],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Whether the text has the objects alone. As JSON or YAML a plan always has its fields.
    #[serde(skip)]
    is_brief: bool,
}

impl<'p> PlanReport<'p> {
    pub fn new(plan: &'p Plan) -> Self {
        Self { changes: &plan.changes, notes: plan.notes.iter().map(said).collect(), is_brief: false }
    }

    /// Of a plan that was written: `diff` has shown its fields, and with `verbose` they are shown again.
    pub fn written(plan: &'p Plan, verbose: bool) -> Self {
        Self { is_brief: !verbose, ..Self::new(plan) }
    }
}

/// A note with the commands that it is about.
fn said(note: &PlanNote) -> String {
    match note {
        PlanNote::Routes(_) | PlanNote::RoutesNotListed | PlanNote::Role(_) => note.to_string(),
        PlanNote::RulesNotListed { .. } => format!("{note} (`canary-ctl generate rbac` prints the right)"),
        PlanNote::CheckFails(failed) => format!("`apply` refuses by `{}`: {failed}", failed.check),
    }
}

impl Report for PlanReport<'_> {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut text = PaintedText::default();
        self.painted(&mut text)?;
        out.write_str(text.as_str())
    }

    fn painted(&self, out: &mut PaintedText) -> fmt::Result {
        for note in &self.notes {
            writeln!(out, "{}", escape::line(note))?;
        }
        for change in self.changes {
            object(change, self.is_brief, out)?;
        }
        Ok(())
    }
}

fn object(change: &Change, is_brief: bool, out: &mut PaintedText) -> fmt::Result {
    let Change { object, why, .. } = change;
    match change.action {
        Action::Create => out.green(format_args!("+ {object}"))?,
        Action::Update | Action::Restore => out.yellow(format_args!("~ {object}"))?,
        Action::Delete => out.red(format_args!("- {object}"))?,
    }
    writeln!(out, ": {why}")?;
    if is_brief {
        return Ok(());
    }
    change.fields.iter().try_for_each(|field| line(field, out))
}

fn line(field: &Field, out: &mut PaintedText) -> fmt::Result {
    let Field { path, from, to, owners, before } = field;
    if from.is_none() && to.is_none() {
        return Ok(());
    }
    write!(out, "    {path}: ")?;
    if let Some(from) = from {
        out.red(short(from))?;
        out.write_str(" -> ")?;
    }
    match to {
        Some(to) => out.green(short(to))?,
        None => out.write_str("nothing")?,
    }
    if let Some(before) = before {
        write!(out, " (before {before})")?;
    }
    if !owners.is_empty() {
        write!(out, " (by {})", owners.join(", "))?;
    }
    writeln!(out)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MAX_VALUE {
        return text;
    }
    let begin: String = text.chars().take(MAX_VALUE).collect();
    format!("{begin}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::preflight::{Alternative, PreflightCheck};

    #[test]
    fn a_plan_that_is_written_is_a_line_for_each_object_unless_more_is_asked_for() {
        let change: Change = Change {
            stage: canary_release::object::Stage::Routes,
            object: canary_release::object::Reference::new("v1", "ConfigMap", "shop", "web"),
            action: Action::Update,
            why: canary_release::plan::ChangeReason::Asked,
            fields: vec![Field {
                path: "data.weight".to_owned(),
                from: Some(1.into()),
                to: Some(2.into()),
                owners: Vec::new(),
                before: None,
            }],
            body: Value::Null,
            seen: None,
            claim: None,
        };
        let plan = Plan { changes: vec![change], ..Plan::default() };
        let text = |report: PlanReport<'_>| {
            let mut text = String::new();
            report.text(&mut text).unwrap();
            text
        };
        let brief = "~ ConfigMap shop/web: the release asks for it\n";
        assert_eq!(text(PlanReport::written(&plan, false)), brief);
        let full = format!("{brief}    data.weight: 1 -> 2\n");
        assert_eq!([text(PlanReport::written(&plan, true)), text(PlanReport::new(&plan))], [&*full, &*full]);
    }

    #[test]
    fn a_check_that_is_skipped_is_no_note_of_a_plan_and_all_others_are() {
        let failed = |check: PreflightCheck| {
            let alternative = Alternative::RestartProxies { proxies: Vec::new() };
            PlanNote::CheckFails(check.refuse(&[], "expected V8", alternative).unwrap_err())
        };
        for skipped in PreflightCheck::ALL {
            let notes = PreflightCheck::ALL.map(failed).to_vec();
            let plan = Plan { notes, ..Plan::default() }.skipping(&[skipped]);
            let report = PlanReport::new(&plan);
            let is_said = |check: &PreflightCheck| {
                report.notes.iter().any(|note| note.contains(&format!("refuses by `{check}`")))
            };
            let left: Vec<_> = PreflightCheck::ALL.into_iter().filter(is_said).collect();
            let expected: Vec<_> =
                PreflightCheck::ALL.into_iter().filter(|check| *check != skipped).collect();
            assert_eq!(left, expected, "{skipped}");
        }
    }

    #[test]
    fn the_notes_of_a_plan_name_commands_in_every_form() {
        let failed = PreflightCheck::NoWasmRuntime
            .refuse(&[], "expected V8", Alternative::RestartProxies { proxies: Vec::new() })
            .unwrap_err();
        let rules = PlanNote::RulesNotListed { namespace: "istio-system".to_owned() };
        let notes = vec![PlanNote::CheckFails(failed), rules];
        let plan = Plan { notes, ..Plan::default() };
        let expected = [
            "`apply` refuses by `no-wasm-runtime`: expected V8",
            "not allowed to list DestinationRules in `istio-system`: the settings of a mesh-wide rule for the Service, if there is one, \
             are not taken over (`canary-ctl generate rbac` prints the right)",
        ];
        let report = PlanReport::new(&plan);
        let mut text = String::new();
        report.text(&mut text).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json, serde_json::json!({"changes": [], "notes": expected}));
    }
}
