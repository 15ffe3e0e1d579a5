//! Which part of a line names the user: all of it, or a field of an access log.

use super::log_line::{self, LogFormat, quoted};
use assignment::request::cookie_pairs;
use std::borrow::Cow;
use std::str::FromStr;

/// The place of the key in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The whole line, without white space around it.
    Line,
    /// The client's address, by the format of the line.
    Client,
    /// The authenticated user, by the format of the line.
    User,
    /// A cookie of this name (the last text of the line that has it).
    Cookie(String),
    /// The quoted fields, counted from 1: in combined format 1 is the request, 2 the referer.
    Quoted(usize),
    /// Between white space, counted from 1, quotation marks meaning nothing (awk's `$n`).
    Spaced(usize),
}

/// The error of a text that names no field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `client`, `user`, `cookie:NAME`, `quoted:N` or `field:N` (N from 1), found `{0}`")]
pub struct FieldError(String);

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let error = || FieldError(text.to_owned());
        let number = |digits: &str| digits.parse().ok().filter(|n| *n > 0).ok_or_else(error);
        match text.split_once(':') {
            None if text == "client" => Ok(Self::Client),
            None if text == "user" => Ok(Self::User),
            Some(("cookie", name)) if !name.is_empty() => Ok(Self::Cookie(name.to_owned())),
            Some(("quoted", digits)) => number(digits).map(Self::Quoted),
            Some(("field", digits)) => number(digits).map(Self::Spaced),
            _ => Err(error()),
        }
    }
}

impl Field {
    /// The key in a line. `None` if the field is missing, empty, or `-` (no value, in a log).
    pub fn of<'l>(&self, line: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        let value = match self {
            // A separate case: a list of ids may contain an id `-`, and its lines need no parsing.
            Self::Line => return Some(Cow::Borrowed(line.trim_ascii())).filter(|key| !key.is_empty()),
            Self::Client => log_line::client(line),
            Self::User => log_line::user(line),
            Self::Cookie(name) => cookie(line, name.as_bytes()),
            // What is counted from a line's beginning is no place in JSON.
            Self::Spaced(_) | Self::Quoted(_) if LogFormat::of(line) == Some(LogFormat::Json) => None,
            Self::Spaced(number) => spaced(line, *number).map(Cow::Borrowed),
            Self::Quoted(number) => quoted(line).nth(number - 1).map(Cow::Borrowed),
        };
        value.filter(|key| !key.is_empty() && **key != *b"-")
    }
}

fn spaced(line: &[u8], number: usize) -> Option<&[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).nth(number - 1)
}

fn cookie<'l>(line: &'l [u8], name: &[u8]) -> Option<Cow<'l, [u8]>> {
    let texts = log_line::cookie_texts(line).into_iter();
    let found = texts.rev().find_map(|text| {
        let pair =
            |(found, value): (&[u8], &[u8])| (found == name && !value.is_empty()).then(|| value.to_vec());
        cookie_pairs(&text).find_map(pair)
    });
    found.map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMBINED: &str = r#"203.0.113.9 - alice [21/Nov/2026:10:00:00 +0000] "GET /cart;JSESSIONID=no HTTP/1.1" 200 512 "https://shop.example.com/?a=\"b\"" "Mozilla/5.0 (X11; x=1; Linux)" "lang=de; JSESSIONID=4b1d7c; x=2""#;

    fn find(field: &str, line: &str) -> Option<String> {
        let field: Field = field.parse().unwrap();
        field.of(line.as_bytes()).map(|key| String::from_utf8_lossy(&key).into_owned())
    }

    #[test]
    fn each_field_of_a_combined_line_with_cookies_is_found() {
        for (field, expected) in [
            ("client", "203.0.113.9"),
            ("user", "alice"),
            ("cookie:JSESSIONID", "4b1d7c"),
            ("cookie:x", "2"),
            ("quoted:2", r#"https://shop.example.com/?a=\"b\""#),
            ("quoted:3", "Mozilla/5.0 (X11; x=1; Linux)"),
            ("field:5", "+0000]"),
        ] {
            assert_eq!(find(field, COMBINED).as_deref(), Some(expected), "{field}");
        }
    }

    #[test]
    fn a_dash_an_empty_field_and_a_missing_one_are_no_key() {
        for (field, line) in [
            ("user", r#"203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET /" 200"#),
            ("quoted:1", r#"a "" b"#),
            ("quoted:2", r#"a "b" c"#),
            ("quoted:1", r#"a "never closed\""#),
            ("field:9", "a b c"),
            ("cookie:JSESSIONID", r#"a "GET /;JSESSIONID=1 HTTP/1.1" "-""#),
            ("cookie:JSESSIONID", r#"a "GET /" "XJSESSIONID=1; JSESSIONID=""#),
            ("client", ""),
        ] {
            assert_eq!(find(field, line), None, "{field} of {line}");
        }
    }

    #[test]
    fn a_line_is_its_own_key_without_the_space_around_it() {
        assert_eq!(Field::Line.of(b"  4b1d 7c \t"), Some(Cow::Borrowed(b"4b1d 7c".as_slice())));
        assert_eq!(Field::Line.of(b"   "), None);
    }

    #[test]
    fn a_field_that_is_none_is_refused_by_name() {
        for text in ["", "cookie", "cookie:", "quoted:0", "field:x", "Client", "line"] {
            let error = text.parse::<Field>().unwrap_err();
            assert!(error.to_string().ends_with(&format!("found `{text}`")), "{error}");
        }
    }
}
