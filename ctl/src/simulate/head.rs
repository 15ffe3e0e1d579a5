//! The first bytes of the input: whether it is text, a list of ids, or a log.

use super::Field;
use super::log_line::LogFormat;
use std::io::{self, Chain, Cursor, Read};

/// As much as has the first lines of any log.
const HEAD_BYTES: u64 = 64 * 1024;
/// The lines that are looked at: the first of a rotated log may be cut.
const HEAD_LINES: usize = 20;
/// The most of a line that an error repeats, in characters.
const MAX_SHOWN: usize = 80;

/// Files that are no text, by their first bytes, and the program that makes text of them.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "zstdcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\xfd7zXZ", "xz", "xzcat"),
    (b"PK\x03\x04", "ZIP", "unzip -p"),
];

/// The error of input that is not what it is said to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Compressed.
    #[error("expected lines of text, found {format}")]
    Packed {
        /// How.
        format: &'static str,
        /// The program that makes text of it.
        program: &'static str,
    },
    /// UTF-16, as PowerShell redirects text.
    #[error("expected lines of UTF-8, found UTF-16")]
    Wide,
    /// A log in the place of ids.
    #[error("expected ids, one a line, found a log in {}", .0.name())]
    Log(LogFormat),
    /// Other text, or no text, in the place of ids.
    #[error("expected ids, one a line without white space, found `{0}`")]
    NoId(String),
    /// No log whose fields are known.
    #[error(
        "expected a log in common or combined format, Envoy's, Istio's, HAProxy's or an Application Load Balancer's, or JSON, found `{0}`"
    )]
    Format(String),
}

/// An input whose beginning has been read, from its start.
type FromStart<R> = Chain<Cursor<Vec<u8>>, R>;

/// The beginning of an input.
pub struct Head(Vec<u8>);

impl Head {
    /// Reads it; the input begins with it again.
    ///
    /// # Errors
    ///
    /// The reader's.
    pub fn of<R: Read>(mut input: R) -> io::Result<(Self, FromStart<R>)> {
        let mut bytes = Vec::new();
        input.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)?;
        Ok((Self(bytes.clone()), Cursor::new(bytes).chain(input)))
    }

    /// The format of the first line of a log.
    pub fn format(&self) -> Option<LogFormat> {
        self.lines().find_map(LogFormat::of)
    }

    /// Compares the input with what is counted in it.
    ///
    /// # Errors
    ///
    /// If it is no text, a log where ids were named, or a log of a format without this field.
    pub fn check(&self, field: &Field) -> Result<(), HeadError> {
        if let Some((_, format, program)) = PACKED.into_iter().find(|(first, ..)| self.0.starts_with(first)) {
            return Err(HeadError::Packed { format, program });
        }
        if self.0.starts_with(b"\xff\xfe") || self.0.starts_with(b"\xfe\xff") {
            return Err(HeadError::Wide);
        }
        match (field, self.format(), self.lines().next()) {
            (Field::Line, Some(format), _) => Err(HeadError::Log(format)),
            (Field::Line, None, _) => match self.lines().find(|line| !is_id(line)) {
                Some(line) => Err(HeadError::NoId(shown(line))),
                None => Ok(()),
            },
            (Field::Client | Field::User, None, Some(line)) => Err(HeadError::Format(shown(line))),
            _ => Ok(()),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.0.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).take(HEAD_LINES)
    }
}

fn is_id(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|text| !text.contains(char::is_whitespace))
}

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_something_else_is_refused_with_what_it_is() {
        let envoy =
            br#"[2026-11-26T10:00:00.000Z] "GET / HTTP/2" 200 - 0 512 12 11 "203.0.113.9" "M" "i" "h" "u""#;
        for (bytes, field, expected) in [
            (&b"\x1f\x8b\x08"[..], Field::Line, Some("found gzip")),
            (b"\xff\xfea\0", Field::Line, Some("found UTF-16")),
            (envoy, Field::Line, Some("found a log in Envoy's default format")),
            (envoy, Field::Client, None),
            (
                b"Nov 26 10:00:00 host app: hello",
                Field::Client,
                Some("found `Nov 26 10:00:00 host app: hello`"),
            ),
            (b"Nov 26 10:00:00 host app: hello", Field::Quoted(1), None),
            (b"garbage\n203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] \"GET /\" 200 5", Field::Client, None),
            (b"id-1\nid-2\n", Field::Line, None),
            (b" id-1 \r\n\nid-\xc3\xa4\r\n", Field::Line, None),
            (b"id-1\nid 2\n", Field::Line, Some("found `id 2`")),
            (b"id-1\tGET\n", Field::Line, Some("found `id-1\tGET`")),
            (b"id-1\xc2\xa0GET\n", Field::Line, Some("found `id-1\u{a0}GET`")),
            (b"id-\xff\n", Field::Line, Some("found `id-\u{fffd}`")),
            (b"", Field::Client, None),
        ] {
            let (head, mut rest) = Head::of(bytes).unwrap();
            let error = head.check(&field).err().map(|error| error.to_string());
            assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
            assert!(error.unwrap_or_default().ends_with(expected.unwrap_or_default()), "{expected:?}");
            let mut again = Vec::new();
            rest.read_to_end(&mut again).unwrap();
            assert_eq!(again, bytes, "nothing of the input is lost");
        }
    }
}
