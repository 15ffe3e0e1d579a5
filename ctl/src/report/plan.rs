//! A plan for people: an object a paragraph, a field a line.

use super::{Paint, Report};
use crate::plan::{Action, Change, Field, Plan};
use serde_json::Value;
use std::fmt;

/// Longer values are cut: a configuration is a page.
const MAX_VALUE: usize = 120;

impl Report for Plan {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.painted(out, Paint::default())
    }

    fn painted(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        for change in &self.changes {
            object(change, out, paint)?;
        }
        Ok(())
    }
}

fn object(change: &Change, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let Change { object, why, .. } = change;
    let heading = match change.action {
        Action::Create => paint.green(&format!("+ {object}")),
        Action::Update | Action::HandBack => paint.yellow(&format!("~ {object}")),
        Action::Delete => paint.red(&format!("- {object}")),
    };
    writeln!(out, "{heading}: {why}")?;
    change.fields.iter().try_for_each(|field| line(field, out, paint))
}

fn line(field: &Field, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let Field { path, from, to, owners } = field;
    match (from, to) {
        (Some(from), Some(to)) => {
            write!(out, "    {path}: {} -> {}", paint.red(&short(from)), paint.green(&short(to)))?;
        }
        (None, Some(to)) => write!(out, "    {path}: {}", paint.green(&short(to)))?,
        (Some(from), None) => write!(out, "    {path}: {} -> nothing", paint.red(&short(from)))?,
        (None, None) => return Ok(()),
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
