//! The text of a release while it is made. The reader of releases has the last word: what it refuses is replaced or left out, and noted.

use super::Error;
use super::difference::{Differences, Fate, Importance, SourceOrigin};
use crate::file;
use placed_yaml::{Fault, block};
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;

/// The fields that an import may write, in the order of the file; `-` is an item of a list.
const ORDER: [&str; 36] = [
    "apiVersion",
    "kind",
    "metadata/name",
    "metadata/namespace",
    "spec/uid",
    "spec/service/name",
    "spec/service/port",
    "spec/versions/label",
    "spec/versions/stable",
    "spec/versions/canary",
    "spec/hosts",
    "spec/paths",
    "spec/gateways/-",
    "spec/sidecars/-",
    "spec/stickiness",
    "spec/session/cookie",
    "spec/session/maxAge",
    "spec/identifyBy/-",
    "spec/weight",
    "spec/maxStep",
    "spec/override",
    "spec/cookies/tls",
    "spec/cookies/sameSite",
    "spec/cookies/domain",
    "spec/routes",
    "spec/rollout/plans/default/-",
    "spec/rollout/onFailure",
    "spec/rollout/onSuccess",
    "spec/rollout/stalledAfter",
    "spec/rollout/prometheus/address",
    "spec/rollout/prometheus/bearerTokenFrom",
    "spec/rollout/metrics/-",
    "spec/rollout/hooks/-",
    "spec/rollout/alerts/-",
    "spec/rollout/observe",
    "spec/delivery",
];

/// A field, or an item of a list.
#[derive(Clone, Debug)]
pub(super) struct DraftField {
    path: &'static str,
    body: Body,
    comments: Vec<String>,
    /// The place in the source, and the importance of a loss.
    origin: SourceOrigin,
    importance: Importance,
    /// The value in its place if the reader refuses it.
    placeholder: Option<Value>,
}

#[derive(Clone, Debug)]
enum Body {
    Value(Value),
    Fields(Vec<(&'static str, Value)>),
}

/// The fields of a release.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    head: Vec<String>,
    fields: Vec<DraftField>,
}

impl DraftField {
    fn new(path: &'static str, body: Body, origin: &SourceOrigin) -> Self {
        let (origin, importance) = (origin.clone(), Importance::Behaviour);
        Self { path, body, comments: Vec::new(), origin, importance, placeholder: None }
    }

    pub(super) fn value(path: &'static str, value: impl Into<Value>, origin: &SourceOrigin) -> Self {
        Self::new(path, Body::Value(value.into()), origin)
    }

    /// A mapping whose fields keep their order.
    pub(super) fn fields(
        path: &'static str,
        fields: Vec<(&'static str, Value)>,
        origin: &SourceOrigin,
    ) -> Self {
        Self::new(path, Body::Fields(fields), origin)
    }

    /// Guards users: its loss is one.
    pub(super) fn guard(self) -> Self {
        Self { importance: Importance::Guard, ..self }
    }

    pub(super) fn or(self, placeholder: impl Into<Value>) -> Self {
        Self { placeholder: Some(placeholder.into()), ..self }
    }

    pub(super) fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comments.push(comment.into());
        self
    }
}

impl Draft {
    pub(super) fn head(&mut self, line: impl Into<String>) {
        self.head.push(line.into());
    }

    pub(super) fn add(&mut self, field: DraftField) {
        self.fields.push(field);
    }

    pub(super) fn count(&self, path: &str) -> usize {
        self.fields.iter().filter(|field| field.path == path).count()
    }

    /// The text, which the reader of releases accepts.
    pub(super) fn finish(mut self, differences: &mut Differences) -> Result<String, Error> {
        self.fields.sort_by_key(|field| ORDER.iter().position(|path| *path == field.path));
        // Each round replaces or removes a field.
        for _ in 0..=2 * self.fields.len() {
            let (text, lines) = self.render()?;
            let Err(error) = file::parse(Path::new("canary.yaml"), &text) else { return Ok(text) };
            let file::Error::Faulty { faults, .. } = error else { break };
            self.repair(&faults, &lines, differences)?;
        }
        Err(Error::Draft("it cannot be repaired".to_owned()))
    }

    /// Changes one field that has a fault, or the last one that can go.
    fn repair(
        &mut self,
        faults: &[Fault],
        lines: &[RangeInclusive<usize>],
        differences: &mut Differences,
    ) -> Result<(), Error> {
        let of = |fault: &Fault| lines.iter().position(|lines| lines.contains(&fault.place.line));
        let found = faults.iter().find_map(|fault| Some((of(fault)?, fault)));
        let last = || self.fields.iter().rposition(|field| field.path.contains("rollout"));
        let Some((index, fault)) = found.or_else(|| Some((last()?, faults.first()?))) else {
            return Err(Error::Draft(faults.first().map(|fault| fault.message.clone()).unwrap_or_default()));
        };
        let Some(field) = self.fields.get_mut(index) else { return Ok(()) };
        let name = field.path.replace("/-", "").replace('/', ".");
        if let Some(placeholder) = field.placeholder.take() {
            let message = format!("`{name}`: {}; a placeholder is in its place", fault.message);
            differences.note(
                &field.origin,
                (Importance::Behaviour, Fate::Placeholder),
                message,
                format!("set `{name}` in the file"),
            );
            field.body = Body::Value(placeholder);
            field.comments.push("PLACEHOLDER: replace this value.".to_owned());
            return Ok(());
        }
        let message = format!("the release cannot have it as `{name}`: {}", fault.message);
        differences.note(
            &field.origin,
            (field.importance, Fate::Lost),
            message,
            format!("write it into `{name}` yourself, if users need it"),
        );
        self.fields.remove(index);
        Ok(())
    }

    /// The text, and the lines of each field.
    fn render(&self) -> Result<(String, Vec<RangeInclusive<usize>>), Error> {
        let mut text = String::new();
        for line in &self.head {
            push_comment(&mut text, "", line);
        }
        let mut open: Vec<&str> = Vec::new();
        let mut ranges = Vec::new();
        for field in &self.fields {
            let mut parents: Vec<&str> = field.path.split('/').collect();
            let name = parents.pop().unwrap_or_default();
            let same = open.iter().zip(&parents).take_while(|(one, other)| one == other).count();
            for (depth, parent) in parents.iter().enumerate().skip(same) {
                let _ = writeln!(text, "{}{parent}:", "  ".repeat(depth));
            }
            let margin = "  ".repeat(parents.len());
            open = parents;
            let start = text.lines().count() + 1;
            for comment in &field.comments {
                push_comment(&mut text, &margin, comment);
            }
            field.body.render(&mut text, &margin, name)?;
            ranges.push(start..=text.lines().count());
        }
        Ok((text, ranges))
    }
}

/// The text of a source may have line ends, and none of it may leave the comment.
fn push_comment(text: &mut String, margin: &str, comment: &str) {
    let line: String = comment.chars().map(|letter| if is_line_end(letter) { ' ' } else { letter }).collect();
    let _ = writeln!(text, "{margin}# {}", line.trim());
}

fn is_line_end(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

impl Body {
    fn render(&self, text: &mut String, margin: &str, name: &str) -> Result<(), Error> {
        let (lead, inner) = match name {
            "-" => (format!("{margin}- "), format!("{margin}  ")),
            _ => (format!("{margin}{name}:"), format!("{margin}  ")),
        };
        match self {
            Self::Value(value) => {
                push_value(text, &lead, &inner, value)?;
            }
            Self::Fields(fields) => {
                let mut lead = lead;
                if name != "-" {
                    let _ = writeln!(text, "{lead}");
                    lead.clone_from(&inner);
                }
                for (name, value) in fields {
                    push_value(text, &format!("{lead}{name}:"), &format!("{inner}  "), value)?;
                    lead.clone_from(&inner);
                }
            }
        }
        Ok(())
    }
}

fn push_value(text: &mut String, lead: &str, inner: &str, value: &Value) -> Result<(), Error> {
    let written = block(value).map_err(Error::Draft)?;
    let is_collection = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    if !is_collection {
        let _ = writeln!(text, "{}", format!("{lead} {}", written.trim()).replace("-  ", "- "));
        return Ok(());
    }
    if lead.ends_with("- ") {
        let _ = writeln!(text, "{lead}{}", written.trim_end().replace('\n', &format!("\n{inner}")));
        return Ok(());
    }
    let _ = writeln!(text, "{lead}");
    for line in written.trim_end().lines() {
        let _ = writeln!(text, "{inner}{line}");
    }
    Ok(())
}
