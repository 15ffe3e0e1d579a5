//! Where the comments of a YAML text are that belong to one of its fields.

use std::ops::Range;

/// The comment lines within a mapping that show a field, `# name: value` at the indentation of `field`, and the lines below that
/// show those of its own fields that its new value has: uncommented, they would be there twice.
pub(super) fn shown(
    text: &str,
    within: Range<usize>,
    field: &str,
    value: &serde_json::Value,
) -> Option<Range<usize>> {
    let (margin, name) = field.split_at(field.len() - field.trim_start().len());
    let comment = |name: &str| format!("{margin}# {name}");
    let is_inner = |line: &str| {
        let fields = value.as_object().into_iter().flat_map(serde_json::Map::keys);
        fields.into_iter().any(|inner| line.starts_with(&comment(&format!("  {inner}:"))))
    };
    let is_shown = |line: &str| {
        line.strip_prefix(&comment(name)).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let mut found: Option<Range<usize>> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches('\n').len();
        match &mut found {
            Some(range) if is_inner(line) => range.end = end,
            Some(_) => break,
            None if within.contains(&start) && is_shown(line.trim_end_matches('\n')) => {
                found = Some(start..end);
            }
            None => {}
        }
        start += line.len();
    }
    found
}

/// The end of the line at a position and of the comment lines directly below it that are indented deeper than a mapping: they
/// belong to the value of its last field.
pub(super) fn below_comments(text: &str, position: usize, indent: usize) -> usize {
    let line_end = |start: usize| {
        let rest = text.get(start..).unwrap_or_default();
        start + rest.find('\n').unwrap_or(rest.len())
    };
    let mut end = line_end(position);
    loop {
        let next = line_end((end + 1).min(text.len()));
        let line = text.get(end + 1..next).unwrap_or_default();
        let comment = line.trim_start();
        if !comment.starts_with('#') || line.len() - comment.len() <= indent {
            return end;
        }
        end = next;
    }
}

/// The beginning of the comment lines directly above a line.
pub(super) fn above_comments(text: &str, mut start: usize) -> usize {
    loop {
        let before = text.get(..start).and_then(|before| before.strip_suffix('\n')).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.get(line_start..).unwrap_or_default();
        if !line.trim_start().starts_with('#') {
            return start;
        }
        start = line_start;
    }
}
