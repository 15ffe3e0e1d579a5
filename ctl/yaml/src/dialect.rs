//! What Kubernetes reads otherwise: its parser is one of YAML 1.1 (go-yaml v2), and `kubectl` divides a file into documents before it.
//!
//! `granit-parser` reads YAML 1.2. What the two take for different values, and what Kubernetes alone refuses, is refused here; little that
//! people write is among it.

use super::parse::SyntaxError;
use super::tree::Place;
use granit_parser::{Event, ScalarStyle, Span, StructureStyle};
use std::ops::Range;

/// Checks a text and the events of its parser.
pub(super) struct Dialect<'t> {
    text: &'t str,
    /// Of each open collection, whether it is within brackets.
    open: Vec<bool>,
    /// The end of the event before.
    end: usize,
    /// Whether its last line is blank and does not end.
    has_blank_end: bool,
}

impl<'t> Dialect<'t> {
    /// Checks the lines of a text.
    pub(super) fn new(text: &'t str) -> Result<Self, SyntaxError> {
        for (index, line) in text.lines().enumerate() {
            if let Some((offset, fault)) = line_fault(line) {
                let before = line.get(..offset).unwrap_or_default();
                let place = Place { line: index + 1, column: before.chars().count() + 1 };
                return Err(fault.at(place));
            }
        }
        let last = text.rsplit('\n').next().unwrap_or_default();
        let has_blank_end = !last.is_empty() && last.trim().is_empty();
        Ok(Self { text, open: Vec::new(), end: 0, has_blank_end })
    }

    /// Checks an event in the order of the text.
    pub(super) fn check(&mut self, event: &Event<'_>, span: &Span) -> Result<(), SyntaxError> {
        let range = range_of(span);
        let gap = self.text.get(self.end..range.start).filter(|_| !self.is_flow()).unwrap_or_default();
        let is_start = self.end == 0;
        self.end = self.end.max(range.end);
        let fault = gap_fault(gap, is_start).or_else(|| self.event_fault(event, span));
        fault.map_or(Ok(()), |fault| Err(fault.at(Place::start_of(span))))
    }

    pub(super) fn check_key(&self, span: &Span) -> Result<(), SyntaxError> {
        let behind = self.behind(span);
        let has_break = behind.trim_start().starts_with(':')
            && behind.split(':').next().is_some_and(|blank| blank.contains('\n'));
        if span.start.line() == span.end.line() && !(self.is_flow() && has_break) {
            return Ok(());
        }
        let message = "expected a key and its `:` on one line, found them on several";
        Err(DialectFault::new(message, "write both on one line").at(Place::start_of(span)))
    }

    fn event_fault(&mut self, event: &Event<'_>, span: &Span) -> Option<DialectFault> {
        match event {
            Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                self.open.push(*style == StructureStyle::Flow);
                None
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                None
            }
            Event::Anchor(_, name) => anchor_fault(name).or_else(|| end_fault(self.behind(span))),
            Event::Alias(_) => end_fault(self.behind(span)),
            Event::Scalar(text, ScalarStyle::Plain, ..) if self.is_flow() => {
                flow_fault(text, self.behind(span))
            }
            Event::Scalar(_, ScalarStyle::Plain, ..) => {
                self.source(span).lines().skip(1).any(is_indented_by_tab).then(DialectFault::tab)
            }
            Event::Scalar(_, ScalarStyle::DoubleQuoted, ..) => escape_fault(self.source(span)),
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) => {
                indentation_fault(self.text, range_of(span).start).or_else(|| self.tail_fault(span))
            }
            _ => None,
        }
    }

    /// Below the first line of a block scalar: a tab that is less indented, and a blank last line of the text that does not end.
    fn tail_fault(&self, span: &Span) -> Option<DialectFault> {
        let indentation_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let below = self.text.get(range_of(span).start..)?.lines().skip(1);
        for line in below.filter(|line| indentation_of(line) < span.start.col()) {
            if is_indented_by_tab(line) {
                return Some(DialectFault::tab());
            }
            if !line.trim().is_empty() {
                break;
            }
        }
        if !self.has_blank_end || !self.behind(span).trim_start().is_empty() {
            return None;
        }
        let message = "expected a line break behind the last line, found none";
        Some(DialectFault::new(message, "end the last line, or remove it"))
    }

    fn is_flow(&self) -> bool {
        self.open.last() == Some(&true)
    }

    fn source(&self, span: &Span) -> &'t str {
        self.text.get(range_of(span)).unwrap_or_default()
    }

    fn behind(&self, span: &Span) -> &'t str {
        self.text.get(range_of(span).end..).unwrap_or_default()
    }
}

fn range_of(span: &Span) -> Range<usize> {
    span.byte_range().unwrap_or_default()
}

/// The expected and the found text, and a hint.
struct DialectFault(String, &'static str);

impl DialectFault {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self(message.into(), hint)
    }

    fn tab() -> Self {
        Self::new("expected indentation by spaces, found a tab", "replace the tab by spaces")
    }

    fn at(self, place: Place) -> SyntaxError {
        SyntaxError { hint: Some(self.1), ..SyntaxError::new(place, self.0) }
    }
}

/// Characters that end a line for some readers: next line, line separator and paragraph separator in YAML 1.1 alone, a carriage return where no
/// line feed follows.
const BREAKS: [char; 4] = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The fault of a line, and its byte.
fn line_fault(line: &str) -> Option<(usize, DialectFault)> {
    if let Some((offset, found)) = line.char_indices().find(|(_, letter)| BREAKS.contains(letter)) {
        let message =
            format!("expected no U+{:04X}, which ends a line for Kubernetes, found one", u32::from(found));
        return Some((offset, DialectFault::new(message, "write it as an escape between double quotes")));
    }
    let behind = line.strip_prefix("---").map_or("", str::trim);
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    let message = if !behind.is_empty() && !behind.starts_with('#') {
        "expected a line with `---` alone, found more on it"
    } else if line.strip_prefix("...").is_some_and(is_end) {
        // Kubernetes reads nothing of what stands between it and `---`.
        "expected documents with `---` between them, found `...`"
    } else {
        return None;
    };
    Some((0, DialectFault::new(message, "begin each document on the line after `---`")))
}

fn anchor_fault(name: &str) -> Option<DialectFault> {
    if name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)) {
        return None;
    }
    let message = format!("expected an anchor of letters, digits, `-` and `_`, found `&{name}`");
    Some(DialectFault::new(message, "give the anchor another name"))
}

/// Behind an anchor or an alias.
fn end_fault(behind: &str) -> Option<DialectFault> {
    if behind.is_empty() || behind.starts_with(|next: char| next.is_whitespace() || "?:,]}%@`".contains(next))
    {
        return None;
    }
    let message = "expected a space behind an anchor or an alias, found none";
    Some(DialectFault::new(message, "write a space behind it"))
}

/// Between events outside of brackets: a tab in an indentation, or behind `-` or `?`.
fn gap_fault(gap: &str, is_start: bool) -> Option<DialectFault> {
    let has_tab = |(index, line): (usize, &str)| {
        let content = line.split('#').next().unwrap_or_default();
        content.split_once('\t').map(|(before, _)| before.trim_end()).is_some_and(|before| {
            before.ends_with(['-', '?']) || (index > 0 || is_start) && before.is_empty()
        })
    };
    gap.split('\n').enumerate().any(has_tab).then(DialectFault::tab)
}

fn is_indented_by_tab(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('\t')
}

/// Within brackets `?` and a leading `:` are signs of YAML 1.1, and `:` ends a key only before a space.
fn flow_fault(text: &str, behind: &str) -> Option<DialectFault> {
    let is_pressed = behind
        .trim_start_matches([' ', '\t'])
        .strip_prefix(':')
        .is_some_and(|rest| rest.starts_with(|next: char| !next.is_whitespace()));
    if !text.contains('?') && !text.starts_with(':') && !is_pressed {
        return None;
    }
    let message = format!(
        "expected quotes around `{text}` within brackets, found none: Kubernetes reads its `?` or `:` as a sign"
    );
    Some(DialectFault::new(message, "quote it"))
}

fn escape_fault(source: &str) -> Option<DialectFault> {
    let mut rest = source;
    while let Some((_, escape)) = rest.split_once('\\') {
        let code = escape.strip_prefix("U0000").or_else(|| escape.strip_prefix(['u', 'U']));
        let is_surrogate = code.is_some_and(|code| {
            code.starts_with(['d', 'D']) && code.get(1..2).is_some_and(|next| "89abcdefABCDEF".contains(next))
        });
        if is_surrogate || escape.starts_with('/') {
            let escape: String = escape.chars().take(if is_surrogate { 5 } else { 1 }).collect();
            let message = format!("expected an escape of YAML 1.1, found `\\{escape}`");
            return Some(DialectFault::new(message, "write the character itself"));
        }
        rest = escape.get(escape.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    None
}

/// A tab in the indentation of the first line of a block scalar, or in an empty line above it. The scalar begins behind that indentation.
fn indentation_fault(text: &str, start: usize) -> Option<DialectFault> {
    let (before, behind) = text.split_at_checked(start)?;
    let is_blank = |letter: char| letter.is_ascii_whitespace();
    let above = before.get(before.trim_end_matches(is_blank).len()..)?;
    let below = behind.get(..behind.len() - behind.trim_start_matches(is_blank).len())?;
    // The rest of the line of `|` is no indentation.
    let indentation = above.split_once('\n').map_or(above, |(_, lines)| lines);
    if !indentation.contains('\t') && !below.contains('\t') {
        return None;
    }
    let message = "expected a block scalar whose first line is indented by spaces, found a tab";
    Some(DialectFault::new(message, "begin with another line, or quote the text"))
}

#[cfg(test)]
mod tests {
    use super::super::{documents_within, manifest_documents};

    /// All of it is YAML 1.2. What Kubernetes makes of each is in the tests of `helm-twins`.
    #[test]
    fn what_kubernetes_reads_otherwise_is_refused_with_its_place() {
        for (text, place, expected) in [
            ("a: 1\nb: \u{2028}c\n", "2:4", "expected no U+2028"),
            ("a: 1\n...\n---\nb: 2\n", "2:1", "found `...`"),
            ("--- {a: 1}\n", "1:1", "expected a line with `---` alone"),
            ("%YAML 1.2\n---\na: 1\n", "1:1", "expected no directive"),
            ("a: &b.c 1\n", "1:4", "expected an anchor of letters"),
            ("a: &b{c: 1}\n", "1:4", "expected a space behind an anchor"),
            ("a: [b?c]\n", "1:5", "expected quotes around `b?c` within brackets"),
            ("a: {b:}\n", "1:5", "expected quotes around `b` within brackets"),
            ("a: {b\n : 1}\n", "1:5", "expected a key and its `:` on one line"),
            ("a: \"\\ud83d\\ude00\"\n", "1:4", "found `\\ud83d`"),
            ("a: |\n  \tb\n", "2:3", "expected a block scalar whose first line is indented by spaces"),
            ("a: |\n  b\n\t\n", "2:3", "expected indentation by spaces"),
            ("a: 1\n\t\nb: 2\n", "3:1", "expected indentation by spaces"),
        ] {
            let error = manifest_documents(text, 100).expect_err(text);
            assert_eq!(error.place.to_string(), place, "{text:?}: {error}");
            assert!(error.message.contains(expected), "{text:?}: expected `{expected}`, found `{error}`");
            assert!(error.hint.is_some(), "{text:?}: {error}");
            documents_within(text, 100).expect(text);
        }
    }
}
