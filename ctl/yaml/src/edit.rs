//! Fills in a manifest's fields and keeps its comments: only the bytes of the values that change are replaced.

use super::comments::{above_comments, below_comments, shown};
use super::{Node, SyntaxError, Value, parse};
use serde::Serialize;
use std::ops::Range;

/// A YAML document that is being filled in. Paths are names and indices between slashes: `spec/http/0/match`.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    /// The tree of the text.
    root: Node,
    /// Edits of the text that do not overlap. Parsing is most of the work, so that many of them are made at once.
    edits: Vec<(Range<usize>, String)>,
}

/// The error of filling in a document: always a fault of the template or of the code that fills it, never of a user.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The template is no YAML (any more).
    #[error("the template is no YAML at line {}", .0.place)]
    Syntax(#[from] SyntaxError),
    /// The template has no such field.
    #[error("the template has no `{0}`")]
    Missing(String),
    /// The value has no YAML form.
    #[error("the value of `{path}` cannot be written as YAML: {reason}")]
    Value {
        /// The field.
        path: String,
        /// Why.
        reason: String,
    },
}

/// The place of a field in the text, and the form of its replacement.
struct Slot {
    range: Range<usize>,
    prefix: String,
    indent: usize,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Behind `name:`, block values on the next line.
    Field,
    /// Behind `- `, block values beginning on the same line.
    Item,
    /// Within brackets.
    Flow,
}

impl Template {
    /// Takes the text of one document.
    ///
    /// # Errors
    ///
    /// If it is no YAML, or more than one document.
    pub fn new(text: impl Into<String>) -> Result<Self, EditError> {
        let text = text.into();
        Ok(Self { root: parse(&text)?, text, edits: Vec::new() })
    }

    /// Whether it has a field.
    ///
    /// # Errors
    ///
    /// If an edit has left no YAML.
    pub fn has(&mut self, path: &str) -> Result<bool, EditError> {
        self.edit()?;
        Ok(parent_of(&self.root, path).is_some_and(|(parent, name)| parent.get(name).is_some()))
    }

    /// Sets a field, which may be a new one of an existing mapping. It takes the place of a comment that shows it: of
    /// `# name: value` among the mapping's fields, with the comments below it that show its own fields.
    ///
    /// # Errors
    ///
    /// If the path does not exist, or the edit leaves no YAML.
    pub fn set(&mut self, path: &str, value: impl Serialize) -> Result<&mut Self, EditError> {
        let failed = |reason: String| EditError::Value { path: path.to_owned(), reason };
        let value = serde_json::to_value(value).map_err(|error| failed(error.to_string()))?;
        let is_separate = |slot: &Slot| self.edits.iter().all(|(range, _)| !touches(range, &slot.range));
        let mut slot = self.slot(path, &value).filter(is_separate);
        if slot.is_none() {
            self.edit()?;
            slot = self.slot(path, &value);
        }
        let slot = slot.ok_or_else(|| EditError::Missing(path.to_owned()))?;
        let rendered = render(&value, &slot).map_err(failed)?;
        self.edits.push((slot.range, format!("{}{rendered}", slot.prefix)));
        Ok(self)
    }

    /// Removes a field or an item, with its lines; of an item also the comment above it.
    ///
    /// # Errors
    ///
    /// If it does not exist, or the edit leaves no YAML.
    pub fn remove(&mut self, path: &str) -> Result<&mut Self, EditError> {
        self.edit()?;
        let missing = || EditError::Missing(path.to_owned());
        let (parent, name) = parent_of(&self.root, path).ok_or_else(missing)?;
        let range = match &parent.value {
            Value::Mapping(entries) => {
                let entry = entries.iter().find(|entry| entry.key == name).ok_or_else(missing)?;
                entry.range.start..entry.node.range.end
            }
            Value::Sequence(items) => {
                let index: usize = name.parse().map_err(|_| missing())?;
                items.get(index).ok_or_else(missing)?.range.clone()
            }
            Value::Scalar(..) => return Err(missing()),
        };
        let before = self.text.get(..range.start).unwrap_or_default();
        let mut start = before.rfind('\n').map_or(0, |newline| newline + 1);
        if matches!(parent.value, Value::Sequence(_)) {
            start = above_comments(&self.text, start);
        }
        let after = self.text.get(range.end..).unwrap_or_default();
        let end = range.end + after.find('\n').map_or(after.len(), |newline| newline + 1);
        self.edits.push((start..end, String::new()));
        Ok(self)
    }

    /// The filled-in text.
    ///
    /// # Errors
    ///
    /// If an edit has left no YAML.
    pub fn finish(mut self) -> Result<String, EditError> {
        self.edit()?;
        Ok(self.text)
    }

    /// Makes the edits, the last of the text first: the places of the others stay.
    fn edit(&mut self) -> Result<(), EditError> {
        if self.edits.is_empty() {
            return Ok(());
        }
        self.edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, with) in self.edits.drain(..) {
            self.text.replace_range(range, &with);
        }
        self.root = parse(&self.text)?;
        Ok(())
    }

    fn slot(&self, path: &str, value: &serde_json::Value) -> Option<Slot> {
        let (parent, name) = parent_of(&self.root, path)?;
        let is_flow = self.text.get(parent.range.clone())?.starts_with(['{', '[']);
        match &parent.value {
            Value::Mapping(entries) => {
                let first = entries.first()?;
                let indent = first.place.column.saturating_sub(1);
                let style = if is_flow { Style::Flow } else { Style::Field };
                match entries.iter().find(|entry| entry.key == name) {
                    Some(entry) => {
                        let range = entry.range.end..entry.node.range.end;
                        Some(Slot { range, prefix: ":".to_owned(), indent, style })
                    }
                    None if is_flow => {
                        let end = parent.range.end.checked_sub(1)?;
                        Some(Slot { range: end..end, prefix: format!(", {name}:"), indent, style })
                    }
                    None => {
                        let field = format!("{}{name}:", " ".repeat(indent));
                        if let Some(range) = shown(&self.text, parent.range.clone(), &field, value) {
                            return Some(Slot { range, prefix: field, indent, style });
                        }
                        let end = below_comments(&self.text, parent.range.end, indent);
                        Some(Slot { range: end..end, prefix: format!("\n{field}"), indent, style })
                    }
                }
            }
            Value::Sequence(items) => {
                let item = items.get(name.parse::<usize>().ok()?)?;
                let indent = item.place.column.saturating_sub(1);
                let style = if is_flow { Style::Flow } else { Style::Item };
                Some(Slot { range: item.range.clone(), prefix: String::new(), indent, style })
            }
            Value::Scalar(..) => None,
        }
    }
}

fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The node that holds the last part of a path, and that part.
fn parent_of<'n, 'p>(root: &'n Node, path: &'p str) -> Option<(&'n Node, &'p str)> {
    let (parents, name) = path.rsplit_once('/').map_or((None, path), |(parents, name)| (Some(parents), name));
    let mut node = root;
    for part in parents.into_iter().flat_map(|parents| parents.split('/')) {
        node = match &node.value {
            Value::Sequence(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => node.get(part)?,
        };
    }
    Some((node, name))
}

fn render(value: &serde_json::Value, slot: &Slot) -> Result<String, String> {
    let space = if slot.style == Style::Item || slot.prefix.is_empty() { "" } else { " " };
    let is_block = match value {
        serde_json::Value::Array(items) => !items.is_empty(),
        serde_json::Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    if !is_block || slot.style == Style::Flow {
        // JSON is YAML, and a scalar needs quotes only where YAML would read something else.
        let text = match value.as_str().and_then(single_quoted) {
            Some(quoted) => quoted,
            None if is_block => value.to_string(),
            None => block(value)?.trim_end().to_owned(),
        };
        return Ok(format!("{space}{text}"));
    }
    let text = block(value)?;
    let indent = if slot.style == Style::Item { slot.indent } else { slot.indent + 2 };
    let margin = " ".repeat(indent);
    let lines: Vec<String> = text.trim_end().lines().map(|line| format!("{margin}{line}")).collect();
    let lines = lines.join("\n");
    match slot.style {
        Style::Item => Ok(lines.trim_start().to_owned()),
        _ => Ok(format!("\n{lines}")),
    }
}

/// JSON within YAML reads best between single quotes, where `"` and `\` need no escape.
fn single_quoted(text: &str) -> Option<String> {
    let plain = text.contains('"') && !text.contains('\'') && !text.chars().any(char::is_control);
    plain.then(|| format!("'{text}'"))
}

/// Block YAML with every scalar on one line, because the lines of a multi-line scalar would have to keep their
/// indentation.
///
/// # Errors
///
/// If the value cannot be written as YAML: it has a map whose keys are no scalars.
pub fn block(value: &impl Serialize) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false, compact_list_indent: false };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "# a manifest\nmetadata:\n  name: x # its name\nspec:\n  # the hosts\n  hosts: [a]\n  http:\n    - route: 1\n      # kept\n      weight: 2\n";

    #[test]
    fn a_field_is_replaced_and_every_comment_stays() {
        let mut template = Template::new(TEXT).unwrap();
        template.set("metadata/name", "shop: it").unwrap();
        template.set("spec/hosts", ["b", "*"]).unwrap();
        template.set("spec/http/0/route", json!({"to": ["v1"]})).unwrap();
        template.set("spec/tls", json!({})).unwrap();
        let expected = "# a manifest\nmetadata:\n  name: \"shop: it\" # its name\nspec:\n  # the hosts\n  hosts:\n    - b\n    - \"*\"\n  http:\n    - route:\n        to:\n          - v1\n      # kept\n      weight: 2\n  tls: {}\n";
        let text = template.finish().unwrap();
        assert_eq!(text.replace('\'', "\""), expected);
    }

    #[test]
    fn a_field_and_an_item_are_removed_with_their_lines() {
        let mut template =
            Template::new("a:\n  # goes too\n  - x: 1\n    y: 2\n  - z: 3\nb: 4 # gone\n").unwrap();
        template.remove("a/0").unwrap().remove("b").unwrap();
        assert_eq!(template.finish().unwrap(), "a:\n  - z: 3\n");
    }

    #[test]
    fn a_new_field_comes_after_the_comments_of_the_last_value() {
        let mut template =
            Template::new("spec:\n  last:\n    x: 1 # its comment\n    # y: 2\n  # of spec\n").unwrap();
        template.set("spec/new", 3).unwrap();
        let expected = "spec:\n  last:\n    x: 1 # its comment\n    # y: 2\n  new: 3\n  # of spec\n";
        assert_eq!(template.finish().unwrap(), expected);
    }

    #[test]
    fn a_new_field_takes_the_place_of_the_comment_that_shows_it() {
        let text = "spec:\n  a: 1\n  # name: x # a word\n  # names: y\n  # more:\n  #   b: 1 # its comment\n  #   c: 2\n  # end\n  z: 2\n";
        let mut template = Template::new(text).unwrap();
        template.set("spec/name", "shop").unwrap().set("spec/more", json!({"b": 3})).unwrap();
        let expected =
            "spec:\n  a: 1\n  name: shop\n  # names: y\n  more:\n    b: 3\n  #   c: 2\n  # end\n  z: 2\n";
        assert_eq!(template.finish().unwrap(), expected);
    }

    #[test]
    fn edits_at_once_make_what_one_after_the_other_makes() {
        let edits = [
            ("metadata/name", json!("shop")),
            ("spec/http/0", json!({"route": {"to": "v1"}, "weight": 1})),
            ("spec/http/0/weight", json!(3)),
            ("spec/http/0/route/to", json!("v2")),
            ("spec/http/0/route/new", json!(null)),
            ("spec/tls", json!({"a": 1})),
            ("spec/tls/b", json!([2])),
            ("spec/more", json!(true)),
            ("spec/hosts", json!(["b"])),
            ("metadata/labels", json!({"x": "y"})),
            ("metadata/labels", json!({"z": "y"})),
        ];
        let mut at_once = Template::new(TEXT).unwrap();
        let mut text = TEXT.to_owned();
        for (path, value) in edits {
            at_once.set(path, &value).unwrap();
            let mut template = Template::new(text).unwrap();
            template.set(path, &value).unwrap();
            text = template.finish().unwrap();
        }
        assert_eq!(at_once.finish().unwrap(), text);
        assert!(text.contains("to: v2") && text.contains("weight: 3"), "{text}");
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let mut template = Template::new(TEXT).unwrap();
        assert_eq!(
            template.set("spec/nope/x", 1).unwrap_err().to_string(),
            "the template has no `spec/nope/x`"
        );
    }

    #[test]
    fn what_is_set_is_read_back_whatever_the_text() {
        for text in [
            "",
            " ",
            "a: b",
            "- x",
            "# no",
            "{\"json\": \"it's\"}",
            "yes",
            "1",
            "null",
            "a\nb",
            "\u{e9}\t\"'\\",
        ] {
            let mut template = Template::new("a:\n  b: 1\n").unwrap();
            template.set("a/b", text).unwrap();
            let node = parse(&template.finish().unwrap()).unwrap();
            let Value::Scalar(read, _) = &node.get("a").unwrap().get("b").unwrap().value else { panic!() };
            assert_eq!(read, text);
        }
    }
}
