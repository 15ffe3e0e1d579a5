//! `Set-Cookie` lines: reads the application's, writes the filter's.
//!
//! # Source
//! RFC 6265 §4.1 and §5.2; a later attribute of one name overrules an earlier, `Max-Age` overrules `Expires` (§5.3).

use super::date;
use assignment::contract::CookieConfig;
use assignment::position_of;
use assignment::request::SessionCookie;
use std::fmt::Write as _;

/// A `Set-Cookie` line of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetCookie<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    /// From the first semicolon on, as sent.
    pub(super) attributes: &'a [u8],
}

impl<'a> SetCookie<'a> {
    /// Reads a line; `None` without a name and an equals sign.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let (pair, attributes) = line.split_at_checked(position_of(b';', line).unwrap_or(line.len()))?;
        let (name, value) = pair.split_at_checked(position_of(b'=', pair)?)?;
        let (name, value) = (name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii());
        Some(Self { name, value, attributes })
    }

    /// Whether the browser deletes the cookie: it is empty, or its attributes say that it has ended already.
    pub(super) fn deletes(&self, now: &impl Fn() -> u64) -> bool {
        if self.value.is_empty() {
            return true;
        }
        let (mut max_age, mut expires) = (None, None);
        for (name, value) in self.attributes() {
            if name.eq_ignore_ascii_case(b"max-age") {
                max_age = ends_at_once(value).or(max_age);
            } else if name.eq_ignore_ascii_case(b"expires") {
                expires = date::seconds_since_1970(value).or(expires);
            }
        }
        max_age.unwrap_or_else(|| expires.is_some_and(|at| at <= i64::try_from(now()).unwrap_or(i64::MAX)))
    }

    /// Name and value of each attribute; the value is empty where there is none.
    fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.attributes.split(|byte| *byte == b';').map(|attribute| {
            let end = position_of(b'=', attribute).unwrap_or(attribute.len());
            let (name, value) = attribute.split_at_checked(end).unwrap_or_default();
            (name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii())
        })
    }

    /// Whether the browser sends it with requests for every path. The last `Path` counts; without one it is the page's folder.
    pub(super) fn reaches_host(&self) -> bool {
        let paths = self.attributes().filter(|(name, _)| name.eq_ignore_ascii_case(b"path"));
        paths.last().is_some_and(|(_, path)| path == b"/")
    }

    /// A line for another cookie that browsers keep and send exactly where they keep and send this one (RFC 6265bis §5.7).
    /// No script needs it, so it is `HttpOnly`, which changes nothing about requests.
    pub(super) fn beside(&self, name: &str, value: &str) -> Vec<u8> {
        let is_http_only = self.attributes().any(|(name, _)| name.eq_ignore_ascii_case(b"httponly"));
        let http_only: &[u8] = if is_http_only { b"" } else { b"; HttpOnly" };
        [name.as_bytes(), b"=", value.as_bytes(), self.attributes, http_only].concat()
    }
}

/// The change of the session cookie by a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionChange<'a> {
    Untouched,
    /// Sets this cookie: the session's, or one of its parts.
    Set(SetCookie<'a>),
    Deleted,
}

impl<'a> SessionChange<'a> {
    /// The change after one more `Set-Cookie` line. Browsers carry the lines out in order, so of those for one cookie the last one
    /// counts. A session that grows or shrinks sets some of its cookies and deletes others, and lives on.
    pub(super) fn or_by(self, line: &'a [u8], session: &str, now: &impl Fn() -> u64) -> Self {
        let named = |cookie: &SetCookie<'_>| SessionCookie::of(cookie.name, session.as_bytes()).is_some();
        let Some(cookie) = SetCookie::read(line).filter(named) else {
            return self;
        };
        match self {
            _ if !cookie.deletes(now) => Self::Set(cookie),
            Self::Set(before) if before.name != cookie.name => self,
            _ => Self::Deleted,
        }
    }
}

/// Whether a `Max-Age` is zero or negative; `None` if it is no number and the attribute is ignored.
fn ends_at_once(value: &[u8]) -> Option<bool> {
    let (negative, digits) = value.strip_prefix(b"-").map_or((false, value), |digits| (true, digits));
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| negative || digits.iter().all(|digit| *digit == b'0'))
}

/// A `Set-Cookie` line of the filter. Without an age the cookie lasts as long as the browser's session.
pub(super) fn write(cookie: &CookieConfig, value: &str, max_age_seconds: Option<u64>) -> String {
    let mut line =
        format!("{}={value}; Path=/; HttpOnly; SameSite={}", cookie.name, cookie.same_site.as_str());
    if cookie.secure {
        line.push_str("; Secure");
    }
    if let Some(domain) = &cookie.domain {
        // Writing to a string cannot fail.
        let _ = write!(line, "; Domain={domain}");
    }
    if let Some(age) = max_age_seconds {
        let _ = write!(line, "; Max-Age={age}");
    }
    line
}

/// The deletion of a cookie of the filter, with the attributes under which the browser keeps it.
pub(super) fn delete(cookie: &CookieConfig) -> String {
    write(cookie, "", Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: &str) -> SessionChange<'_> {
        SessionChange::Untouched.or_by(line.as_bytes(), "S", &|| 1_700_000_000)
    }

    /// The value that the session cookie is set to.
    fn set(line: &str) -> Option<&[u8]> {
        if let SessionChange::Set(cookie) = change(line) { Some(cookie.value) } else { None }
    }

    #[test]
    fn a_session_cookie_is_seen_as_browsers_see_it() {
        for line in [
            "S=abc; Path=/; HttpOnly",
            " S = abc ;Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "S=abc; Max-Age=soon",
        ] {
            assert_eq!(set(line), Some(&b"abc"[..]), "{line}");
        }
        for line in ["SS=abc", "s=abc", "S", "", "a=S=abc"] {
            assert_eq!(change(line), SessionChange::Untouched, "{line}");
        }
    }

    #[test]
    fn every_usual_way_to_delete_a_cookie_is_known() {
        for line in [
            "S=; Path=/",
            "S=x; Max-Age=0",
            "S=x; max-age=-1; Expires=Thu, 01 Dec 2033 16:00:00 GMT",
            "S=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0; path=/",
            "S=x; Expires=Thu, 01 Jan 1970 00:00:10 GMT",
        ] {
            assert_eq!(change(line), SessionChange::Deleted, "{line}");
        }
    }

    #[test]
    fn the_last_line_for_a_cookie_counts() {
        let set = change("S=a");
        assert_eq!(set.or_by(b"S=; Max-Age=0", "S", &|| 0), SessionChange::Deleted);
        assert_eq!(set.or_by(b"T=1", "S", &|| 0), set);
    }

    #[test]
    fn a_session_that_grows_or_shrinks_lives_on_and_ends_with_all_its_parts() {
        let after = |lines: &[&'static str]| {
            lines
                .iter()
                .fold(SessionChange::Untouched, |change, line| change.or_by(line.as_bytes(), "S", &|| 0))
        };
        let value = |change: SessionChange<'static>| {
            if let SessionChange::Set(cookie) = change { Some(cookie.value) } else { None }
        };
        assert_eq!(value(after(&["S=; Max-Age=0", "S.0=a", "S.1=b"])), Some(&b"b"[..]), "grows");
        assert_eq!(
            value(after(&["S.0=a", "S.1=b", "S=; Max-Age=0"])),
            Some(&b"b"[..]),
            "grows, in the other order"
        );
        assert_eq!(value(after(&["S=a", "S.0=; Max-Age=0", "S.1=; Max-Age=0"])), Some(&b"a"[..]), "shrinks");
        assert_eq!(after(&["S.0=; Max-Age=0", "S.1=; Max-Age=0"]), SessionChange::Deleted);
    }

    #[test]
    fn a_cookie_beside_another_has_its_attributes() {
        for (line, expected) in [
            ("S=a", "P=x; HttpOnly"),
            (
                "S=a;path=/shop ; SameSite=None;Secure; httponly; Partitioned",
                "P=x;path=/shop ; SameSite=None;Secure; httponly; Partitioned",
            ),
            ("S=a; Domain=example.com; Future=1", "P=x; Domain=example.com; Future=1; HttpOnly"),
        ] {
            let written = SetCookie::read(line.as_bytes()).map(|cookie| cookie.beside("P", "x")).unwrap();
            assert_eq!(String::from_utf8_lossy(&written), expected);
        }
    }
}
