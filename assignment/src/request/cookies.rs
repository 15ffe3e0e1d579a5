//! Cookies as clients send them: several lines, repeated names, any bytes.

use super::headers::{self, Headers};
use crate::position_of;

/// All cookies of a request. Cheap to copy; parses while it is walked.
#[derive(Clone, Copy, Debug)]
pub struct Cookies<'h> {
    headers: Headers<'h>,
    first_line: &'h [u8],
    lines: u32,
}

impl<'h> Cookies<'h> {
    pub(super) const fn new(headers: Headers<'h>) -> Self {
        Self { headers, first_line: b"", lines: 0 }
    }

    pub(super) fn note_line(&mut self, line: &'h [u8]) {
        if self.lines == 0 {
            self.first_line = line;
        }
        self.lines = self.lines.saturating_add(1);
    }

    /// The cookies in order, as name and value.
    ///
    /// HTTP/1.1 clients may send several `Cookie` lines and Envoy does not join them, so all lines are read; with the
    /// usual single line the headers are read only once.
    pub fn iter(&self) -> CookieIter<'h> {
        let others = if self.lines > 1 { self.headers } else { Headers::List(&[]) };
        CookieIter { line: Some(self.first_line), others: others.iter(), skip_first: true }
    }

    /// The first cookie of this name whose value is not empty.
    pub fn get(&self, name: &str) -> Option<&'h [u8]> {
        self.iter()
            .find(|(found, value)| *found == name.as_bytes() && !value.is_empty())
            .map(|(_, value)| value)
    }
}

/// The cookies of one `Cookie` line.
///
/// Servers differ in what they forgive; we take what RFC 6265 §5.4 clients send and forgive blanks around it. A part
/// without `=` is no cookie; values keep their quotes.
pub fn cookie_pairs(line: &[u8]) -> CookieIter<'_> {
    CookieIter { line: Some(line), others: Headers::List(&[]).iter(), skip_first: false }
}

/// A cookie's value without the quotes that some clients put around it (RFC 6265 §4.1.1 allows them).
pub fn unquoted(value: &[u8]) -> &[u8] {
    if let [b'"', inner @ .., b'"'] = value { inner } else { value }
}

/// Cookies in order, as name and value.
#[derive(Clone, Debug)]
pub struct CookieIter<'h> {
    /// The rest of the line.
    line: Option<&'h [u8]>,
    /// The headers in which further lines are.
    others: headers::Iter<'h>,
    /// Whether the first line among them is the one that we began with.
    skip_first: bool,
}

impl<'h> IntoIterator for &Cookies<'h> {
    type Item = (&'h [u8], &'h [u8]);
    type IntoIter = CookieIter<'h>;
    fn into_iter(self) -> CookieIter<'h> {
        self.iter()
    }
}

impl<'h> CookieIter<'h> {
    /// The next part between semicolons, found several bytes at a time: cookie lines reach kilobytes.
    fn part(&mut self) -> Option<&'h [u8]> {
        let rest = match self.line {
            Some(rest) => rest,
            None => self.next_line()?,
        };
        let end = position_of(b';', rest);
        self.line = end.and_then(|end| rest.get(end + 1..));
        rest.get(..end.unwrap_or(rest.len()))
    }

    fn next_line(&mut self) -> Option<&'h [u8]> {
        loop {
            let (name, line) = self.others.next()?;
            if name == b"cookie" && !std::mem::take(&mut self.skip_first) {
                return Some(line);
            }
        }
    }
}

impl<'h> Iterator for CookieIter<'h> {
    type Item = (&'h [u8], &'h [u8]);

    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let part = self.part()?;
            if let Some((name, value)) =
                position_of(b'=', part).and_then(|equals| part.split_at_checked(equals))
            {
                return Some((trimmed(name), trimmed(value.get(1..)?)));
            }
        }
    }
}

/// Without the blanks around it. Nearly always that is the one blank after a semicolon.
fn trimmed(part: &[u8]) -> &[u8] {
    let part = if let [b' ', rest @ ..] = part { rest } else { part };
    match part {
        [first, .., last] if *first > b' ' && *last > b' ' => part,
        _ => part.trim_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::contract::HeaderNames;

    fn pairs(line: &[u8]) -> Vec<(&[u8], &[u8])> {
        cookie_pairs(line).collect()
    }

    #[test]
    fn a_line_is_read_with_blanks_quotes_and_equals_signs() {
        assert_eq!(
            pairs(b"a=1; b=\"x y\";c=k=v ;; d ; =e;f="),
            [(&b"a"[..], &b"1"[..]), (b"b", b"\"x y\""), (b"c", b"k=v"), (b"", b"e"), (b"f", b""),]
        );
        assert_eq!(pairs(b"").first(), None);
        assert_eq!(pairs(b"a=\xff\xfe"), [(&b"a"[..], &b"\xff\xfe"[..])]);
    }

    #[test]
    fn quotes_count_in_pairs() {
        for (value, expected) in [("\"a\"", "a"), ("a", "a"), ("\"a", "\"a"), ("\"", "\""), ("\"\"", "")] {
            assert_eq!(unquoted(value.as_bytes()), expected.as_bytes(), "{value}");
        }
    }

    #[test]
    fn every_cookie_line_counts() {
        let list: Vec<(&[u8], &[u8])> = vec![(b"cookie", b"a=1"), (b"x", b"y"), (b"cookie", b"b=2; c=3")];
        let request = Request::read(Headers::List(&list), &HeaderNames::default());
        assert_eq!(request.cookies().get("c"), Some(&b"3"[..]));
        assert_eq!(request.cookies().iter().count(), 3);
    }

    #[test]
    fn an_empty_cookie_is_none_and_the_next_of_its_name_counts() {
        let list: Vec<(&[u8], &[u8])> = vec![(b"cookie", b"s=; s=2")];
        let request = Request::read(Headers::List(&list), &HeaderNames::default());
        assert_eq!(request.cookies().get("s"), Some(&b"2"[..]));
    }
}
