//! The one place that makes text of others fit to print: tokens, responses, files, messages of an API server.
//!
//! A character that a terminal obeys (ESC and the other controls) or that changes what a reader sees (bidirectional and
//! zero-width characters: Unicode Technical Report 36) is written as its number. Which characters these are is what `str::escape_debug`
//! escapes for the same reason.

use placed_yaml::{self as yaml, Node, Value};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Whether a character is printed as it is: not a control, bidirectional, zero-width or unassigned one, nor an odd space.
fn is_visible(character: char) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    // After a letter, because a combining mark is escaped only where it has none.
    let mut bytes = [b'a'; 5];
    let end = 1 + character.encode_utf8(&mut bytes[1..]).len();
    let text = bytes.get(..end).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
    text.escape_debug().nth(1) == Some(character)
}

/// Text of one or more lines, the rest escaped as Rust does: `\u{1b}`.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, |character| character == '\n' || is_visible(character), as_rust)
}

/// The longest word of a message, in characters: a command that stops a canary has less.
const MAX_WORD: usize = 4_000;
/// The characters that a message shows of a longer word.
const SHOWN: usize = 100;
/// The longest line of a message.
const MAX_LINE: usize = 20_000;

/// A message, whose words and lines are cut where they are longer than what people read: a name of 100 kB in a file is none.
pub fn message(text: &str) -> Cow<'_, str> {
    let escaped = self::text(text);
    let is_long = |line: &str| line.len() > MAX_LINE || line.split(' ').any(|word| word.len() > MAX_WORD);
    if !escaped.split('\n').any(is_long) {
        return escaped;
    }
    let short = |line: &str| {
        let words: Vec<_> = line.split(' ').map(|word| cut(word, MAX_WORD, SHOWN)).collect();
        cut(&words.join(" "), MAX_LINE, MAX_LINE).into_owned()
    };
    Cow::Owned(escaped.split('\n').map(short).collect::<Vec<_>>().join("\n"))
}

/// The beginning of a text that is too long, and its length.
fn cut(text: &str, limit: usize, shown: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= limit {
        return Cow::Borrowed(text);
    }
    let begin: String = text.chars().take(shown).collect();
    Cow::Owned(format!("{begin}… ({length} characters)"))
}

/// Text for one line: a newline is escaped too, so that no value looks like another line of ours.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_visible, as_rust)
}

/// JSON, with the escapes of RFC 8259 §7. `serde_json` escapes what JSON must, and not what a terminal obeys; outside of
/// strings there is neither.
pub fn json(text: &str) -> Cow<'_, str> {
    escape(
        text,
        |character| character == '\n' || is_visible(character),
        |out, character| {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// YAML: a scalar with such a character is written between double quotes (YAML 1.2.2 §5.7); in a comment the character is escaped as in text.
pub fn yaml(source: &str) -> Cow<'_, str> {
    if matches!(text(source), Cow::Borrowed(_)) {
        return Cow::Borrowed(source);
    }
    let mut scalars = Vec::new();
    // Text that is no YAML has no rules of its own.
    for document in yaml::documents_within(source, MAX_VALUES).unwrap_or_default() {
        collect_scalars(&document, &mut scalars);
    }
    scalars.sort_by_key(|(range, _)| range.start);
    let (mut out, mut rest) = (String::with_capacity(source.len()), 0);
    for (range, value) in scalars {
        let (Some(before), Some(scalar)) = (source.get(rest..range.start), source.get(range.clone())) else {
            continue;
        };
        out.push_str(&text(before));
        match line(scalar) {
            Cow::Borrowed(as_it_is) => out.push_str(as_it_is),
            Cow::Owned(_) => quote(&value, &mut out),
        }
        rest = range.end;
    }
    out.push_str(&text(source.get(rest..).unwrap_or_default()));
    Cow::Owned(out)
}

/// As many values as a chart can have.
const MAX_VALUES: usize = 1_000_000;

/// The scalars of a tree, keys included: where they are, and what they say.
fn collect_scalars(node: &Node, scalars: &mut Vec<(Range<usize>, String)>) {
    match &node.value {
        Value::Scalar(value, _) => scalars.push((node.range.clone(), value.clone())),
        Value::Sequence(items) => items.iter().for_each(|item| collect_scalars(item, scalars)),
        Value::Mapping(entries) => {
            for entry in entries {
                scalars.push((entry.range.clone(), entry.key.clone()));
                collect_scalars(&entry.node, scalars);
            }
        }
    }
}

fn quote(value: &str, out: &mut String) {
    out.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            _ if is_visible(character) => out.push(character),
            _ => {
                let _infallible = write!(out, "\\U{:08x}", u32::from(character));
            }
        }
    }
    out.push('"');
}

fn as_rust(out: &mut String, character: char) {
    out.extend(character.escape_debug());
}

fn escape(text: &str, is_kept: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if text.chars().all(&is_kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        if is_kept(character) { out.push(character) } else { write(&mut out, character) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters that a terminal obeys, or that change the order or the number of the letters that are seen.
    const HIDDEN: &[char] = &[
        '\0',
        '\u{7}',
        '\u{8}',
        '\t',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{90}',
        '\u{9b}',
        '\u{9d}',
        '\u{ad}',
        '\u{61c}',
        '\u{180e}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202b}',
        '\u{202c}',
        '\u{202d}',
        '\u{202e}',
        '\u{2060}',
        '\u{2066}',
        '\u{2067}',
        '\u{2068}',
        '\u{2069}',
        '\u{206a}',
        '\u{206f}',
        '\u{feff}',
        '\u{fff9}',
        '\u{e0001}',
        '\u{e0041}',
    ];

    #[test]
    fn controls_bidirectional_and_zero_width_characters_are_written_as_numbers() {
        for hidden in HIDDEN {
            let escaped = line(&format!("a{hidden}b")).into_owned();
            assert!(escaped.starts_with("a\\") && escaped.is_ascii(), "{hidden:?}: {escaped}");
            assert_eq!(text(&escaped), escaped, "escaped twice");
        }
        assert_eq!(text("\u{1b}[2Jx\ny\u{202e}"), "\\u{1b}[2Jx\ny\\u{202e}");
        assert_eq!(line("x\nhint: y"), "x\\nhint: y");
    }

    #[test]
    fn letters_of_any_language_are_printed_as_they_are() {
        for shown in
            ["a \"quoted\" 'text' \\ -> …", "Größe 5 %", "e\u{301}té", "日本語", "שלום", "हिन्दी", "👍"]
        {
            assert!(matches!(line(shown), Cow::Borrowed(_)), "{shown}: {}", line(shown));
        }
    }

    #[test]
    fn json_and_yaml_say_the_same_after_escaping() {
        let value: String = HIDDEN.iter().chain(&['"', '\'', '\\', '\n', ':', 'é']).collect();
        let texts = [value.clone(), format!("{value}: x"), "plain".to_owned(), "\\u{202e}".to_owned()];
        for text in &texts {
            let report = serde_json::json!({text.as_str(): [text, {"a": text}], "b": 1});
            let json = serde_json::to_string_pretty(&report).unwrap();
            let yaml = placed_yaml::block(&report).unwrap();
            for (escaped, source) in [(self::json(&json), &json), (self::yaml(&yaml), &yaml)] {
                let read: serde_json::Value = serde_saphyr::from_str(&escaped).unwrap();
                assert_eq!(read, report, "{source} became {escaped}");
                let raw = escaped.chars().find(|character| HIDDEN.contains(character));
                assert_eq!(raw, None, "{escaped}");
            }
        }
    }

    #[test]
    fn yaml_keeps_its_comments_and_every_scalar_that_is_visible() {
        let source = "# by \u{202e}x\na: b # ok\n\"c\u{200b}\": [d, 'e\u{202e}''']\n---\nf: g\u{ad}\n";
        let expected = "# by \\u{202e}x\na: b # ok\n\"c\\U0000200b\": [d, \"e\\U0000202e'\"]\n---\nf: \"g\\U000000ad\"\n";
        assert_eq!(yaml(source), expected);
        assert!(matches!(yaml("a: b\n"), Cow::Borrowed(_)));
    }
}
