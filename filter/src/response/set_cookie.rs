//! `Set-Cookie` lines: reads the application's, writes the filter's.
//!
//! # Source
//! RFC 6265 §4.1 and §5.2; a later attribute of one name overrules an earlier, `Max-Age` overrules `Expires` (§5.3).

use super::date;
use assignment::contract::CookieConfig;
use assignment::position_of;
use std::fmt::Write as _;

/// What a response does to the session cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionChange<'a> {
    Untouched,
    /// Sets it to this value.
    Set(&'a [u8]),
    Deleted,
}

impl<'a> SessionChange<'a> {
    /// The change after one more `Set-Cookie` line: browsers carry the lines out in order, so the last one counts.
    pub(super) fn or_by(self, line: &'a [u8], cookie: &str, now: &impl Fn() -> u64) -> Self {
        let mut parts = line.split(|byte| *byte == b';');
        let value = parts.next().and_then(|pair| {
            let (name, value) = pair.split_at_checked(position_of(b'=', pair)?)?;
            (name.trim_ascii() == cookie.as_bytes()).then(|| value.get(1..).unwrap_or_default().trim_ascii())
        });
        match value {
            None => self,
            Some(value) if value.is_empty() || is_past(parts, now) => Self::Deleted,
            Some(value) => Self::Set(value),
        }
    }
}

/// Whether the attributes say that the cookie has ended already.
fn is_past<'a>(attributes: impl Iterator<Item = &'a [u8]>, now: &impl Fn() -> u64) -> bool {
    let (mut max_age, mut expires) = (None, None);
    for attribute in attributes {
        let Some(equals) = position_of(b'=', attribute) else {
            continue;
        };
        let (name, value) = attribute.split_at_checked(equals).unwrap_or_default();
        let (name, value) = (name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii());
        if name.eq_ignore_ascii_case(b"max-age") {
            max_age = ends_at_once(value).or(max_age);
        } else if name.eq_ignore_ascii_case(b"expires") {
            expires = date::seconds_since_1970(value).or(expires);
        }
    }
    max_age.unwrap_or_else(|| expires.is_some_and(|at| at <= i64::try_from(now()).unwrap_or(i64::MAX)))
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

    #[test]
    fn a_session_cookie_is_seen_as_browsers_see_it() {
        assert_eq!(change("S=abc; Path=/; HttpOnly"), SessionChange::Set(b"abc"));
        assert_eq!(
            change(" S = abc ;Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
            SessionChange::Set(b"abc")
        );
        assert_eq!(change("S=abc; Max-Age=soon"), SessionChange::Set(b"abc"));
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
}
