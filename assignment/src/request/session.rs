//! The session cookie of the application, and the pin beside it that belongs to one session.
//!
//! A host may have several session cookies of one name, one for each path, and an application may split a long session into
//! several cookies. The session's pin has the attributes of the session cookie, so that a browser sends both or none, and
//! begins with a hash of the session cookie's value, so that it counts for that session alone:
//!
//! ```text
//! <hash of the value, 8 digits>.<signed pin>
//! ```
//!
//! The hash is not signed: who edits it changes the session to which a pin of their own belongs.

use super::unquoted;
use crate::bucket::murmur3_32;
use crate::identity::write_hex;

/// Which part of a session a cookie is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionCookie {
    /// The whole session.
    Whole,
    /// One of the cookies into which a long session is split.
    Part,
}

/// The separators of a part's name and number.
///
/// # Source
/// `.`: Auth.js, Supabase; `_`: oauth2-proxy, `mod_auth_openidc`; `C`: ASP.NET Core; none: lua-resty-session 4; `__`: Auth0 for
/// Next.js, which ends the name with `__`; `-`: Pomerium; `_chunk_`: some of Svelte.
const SEPARATORS: [&[u8]; 7] = [b"", b".", b"_", b"-", b"__", b"C", b"_chunk_"];

impl SessionCookie {
    /// Whether the cookie `name` is the session cookie `session` or a part of it; none if that is empty.
    pub fn of(name: &[u8], session: &[u8]) -> Option<Self> {
        // Most cookies differ in the first byte.
        if session.is_empty() || name.first() != session.first() {
            return None;
        }
        match name.strip_prefix(session)? {
            [] => Some(Self::Whole),
            rest => is_part(rest).then_some(Self::Part),
        }
    }
}

/// Whether it is a separator and a number of at most two digits.
#[cold]
fn is_part(suffix: &[u8]) -> bool {
    SEPARATORS
        .iter()
        .filter_map(|separator| suffix.strip_prefix(*separator))
        .any(|number| matches!(number.len(), 1 | 2) && number.iter().all(u8::is_ascii_digit))
}

/// The name of the sessions' pins, from that of the host's pin. It has no `__Host-` prefix: browsers refuse that with the
/// attributes of many a session cookie.
pub fn session_pin_name(host_pin: &str) -> String {
    let prefixes = ["__Host-", "__Secure-"];
    let name = prefixes.iter().find_map(|prefix| host_pin.strip_prefix(prefix)).unwrap_or(host_pin);
    [name, ".s"].concat()
}

/// A hash of a session cookie's value, by which its pin is found: 32 bits in hexadecimal digits. It only has to tell the sessions of
/// one browser apart.
pub type SessionHash = [u8; 8];

/// The hash of a session cookie's value: `MurmurHash3_x86_32(value, seed 0)`.
pub fn session_hash(session: &[u8]) -> SessionHash {
    let mut digits = SessionHash::default();
    write_hex(&mut digits, &murmur3_32(unquoted(session), 0).to_be_bytes());
    digits
}

/// The value of a pin that belongs to the session with the cookie's value `session`. `seal` is the signed text.
pub fn session_pin(session: &[u8], seal: &str) -> String {
    let hash = session_hash(session);
    [std::str::from_utf8(&hash).unwrap_or_default(), ".", seal].concat()
}

/// The session that a pin belongs to, if any, and the signed text. That begins with a `p`, which is no digit.
pub fn split_session_pin(value: &[u8]) -> (Option<&SessionHash>, &[u8]) {
    match value.split_first_chunk() {
        Some((session, [b'.', text @ ..])) if !value.starts_with(b"p") => (Some(session), text),
        _ => (None, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_session_are_named_as_common_libraries_do() {
        let parts = [
            ("next-auth.session-token", "next-auth.session-token.0"),
            ("sb-project-auth-token", "sb-project-auth-token.1"),
            ("_oauth2_proxy", "_oauth2_proxy_12"),
            (".AspNetCore.Cookies", ".AspNetCore.CookiesC2"),
            ("session", "session2"),
            ("__session", "__session__0"),
            ("_pomerium", "_pomerium-1"),
            ("S", "S_chunk_3"),
        ];
        for (session, name) in parts {
            assert_eq!(
                SessionCookie::of(name.as_bytes(), session.as_bytes()),
                Some(SessionCookie::Part),
                "{name}"
            );
        }
        assert_eq!(SessionCookie::of(b"S", b"S"), Some(SessionCookie::Whole));
        for name in ["S.", "S.x", "S.1x", "S_csrf", "S123", "S.id", "Sx", "xS", "s", "", "S1.2", "S._1"] {
            assert_eq!(SessionCookie::of(name.as_bytes(), b"S"), None, "{name}");
        }
        assert_eq!(SessionCookie::of(b"0", b""), None, "a release without a session cookie");
    }

    #[test]
    fn a_session_pin_names_its_session() {
        let text = "p1.k1.version.3.0.5.mac";
        let value = session_pin(b"abc", text);
        assert_eq!(split_session_pin(value.as_bytes()), (Some(&session_hash(b"abc")), text.as_bytes()));
        assert_eq!(
            session_hash(b"\"abc\""),
            session_hash(b"abc"),
            "as it is set, and as some clients send it"
        );
        for other in ["", text, "p1.k1.vx..", &value[1..], &value.replacen('.', "", 1)] {
            assert_eq!(split_session_pin(other.as_bytes()), (None, other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_name_has_no_prefix_that_browsers_check() {
        for pin in ["__Host-canary-pin.shop.web", "__Secure-canary-pin.shop.web", "canary-pin.shop.web"] {
            assert_eq!(session_pin_name(pin), "canary-pin.shop.web.s");
        }
    }
}
