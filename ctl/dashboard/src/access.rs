//! Who may ask for something: this page alone, in the browser that was given the token.
//!
//! # Source
//! `Sec-Fetch-Site`: [Fetch Metadata](https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header); `Origin`:
//! [Fetch §3.2](https://fetch.spec.whatwg.org/#origin-header); `Authorization: Bearer`: RFC 6750 §2.1.

use crate::DashboardRoute;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use hyper::http::request::Parts;
use std::fmt::Write as _;

/// A random secret of one run of the dashboard.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// 32 random bytes, in hexadecimal digits.
    ///
    /// # Errors
    ///
    /// If the operating system gives no random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// As it stands in a URL's fragment, which no browser sends.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the first difference is.
    fn is(&self, found: &[u8]) -> bool {
        let own = self.0.as_bytes();
        own.len() == found.len() && own.iter().zip(found).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

/// The reason for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// `Host` is another server's: a name of another site that resolves to this machine.
    #[error("expected the host that the dashboard has printed, found another in `Host`")]
    Host,
    /// A page of another site sent it.
    #[error("expected a request of this page, found one of another site")]
    Site,
    /// The token is missing or another one.
    #[error("expected the token that the dashboard has printed, found none or another")]
    Token,
    /// A change that is no JSON: a form of another site can send others without a preflight request.
    #[error("expected `Content-Type: application/json`, found another or none")]
    MediaType,
    /// A change, and this dashboard makes none.
    #[error("expected a request that changes nothing: the dashboard was started with `--read-only`")]
    ReadOnly,
}

/// The checks of one server.
pub struct RequestCheck {
    token: AccessToken,
    hosts: [String; 2],
    is_read_only: bool,
}

impl RequestCheck {
    /// Of a server at this port of `127.0.0.1`.
    pub fn new(token: AccessToken, port: u16) -> Self {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Self { token, hosts, is_read_only: false }
    }

    /// Refuses every change.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Whether every change is refused.
    pub const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether this host is the server.
    ///
    /// # Errors
    ///
    /// If `Host` is missing, repeated or another one, or the request line names another one.
    pub fn check_host(&self, request: &Parts) -> Result<(), Rejection> {
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        let in_header = only(&request.headers, &HOST).is_some_and(is_own);
        let in_line = request.uri.authority().is_none_or(|authority| is_own(authority.as_str()));
        if in_header && in_line { Ok(()) } else { Err(Rejection::Host) }
    }

    /// Whether the sender may have this. The files of the page are for everybody who reaches the server by its own host.
    ///
    /// # Errors
    ///
    /// As [`check_host`](Self::check_host); for data also if another site sent the request, or the token is missing; for a change
    /// also without `Origin`, which browsers send with each of them, if it is no JSON, or if the dashboard is read-only.
    pub fn check(&self, route: &DashboardRoute, request: &Parts) -> Result<(), Rejection> {
        self.check_host(request)?;
        if !route.is_data() {
            return Ok(());
        }
        let headers = &request.headers;
        let is_own_origin = |origin: &str| {
            origin.strip_prefix("http://").is_some_and(|host| self.hosts.iter().any(|own| own == host))
        };
        let is_own_site = !headers.contains_key("sec-fetch-site")
            || only(headers, "sec-fetch-site").is_some_and(|site| site == "same-origin");
        let may_lack_origin = !route.is_change() && !headers.contains_key(ORIGIN);
        let has_own_origin = may_lack_origin || only(headers, &ORIGIN).is_some_and(is_own_origin);
        if !is_own_site || !has_own_origin {
            return Err(Rejection::Site);
        }
        let token = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        token.filter(|token| self.token.is(token.as_bytes())).ok_or(Rejection::Token)?;
        if route.is_change() { self.check_change(headers) } else { Ok(()) }
    }

    fn check_change(&self, headers: &HeaderMap) -> Result<(), Rejection> {
        if self.is_read_only {
            return Err(Rejection::ReadOnly);
        }
        let is_json = only(headers, &CONTENT_TYPE).is_some_and(|media_type| media_type == "application/json");
        if is_json { Ok(()) } else { Err(Rejection::MediaType) }
    }
}

/// The value of a header that occurs once.
fn only(headers: &HeaderMap, name: impl hyper::header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn parts(headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::get("/api/releases");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn data_needs_the_host_the_site_and_the_token_and_each_alone_is_refused() {
        let token = AccessToken::random().unwrap();
        let check = RequestCheck::new(token.clone(), 7000);
        let bearer = format!("Bearer {}", token.as_str());
        let (host, auth) = (("host", "127.0.0.1:7000"), ("authorization", bearer.as_str()));
        let found = |headers: &[(&str, &str)]| check.check(&DashboardRoute::Releases, &parts(headers));
        for good in [
            &[host, auth][..],
            &[("host", "localhost:7000"), auth, ("sec-fetch-site", "same-origin")],
            &[host, auth, ("origin", "http://127.0.0.1:7000")],
        ] {
            assert_eq!(found(good), Ok(()), "{good:?}");
        }
        for rebound in ["evil.example:7000", "127.0.0.1", "127.0.0.1:7001", "127.0.0.1.evil.example:7000", ""]
        {
            assert_eq!(found(&[("host", rebound), auth]), Err(Rejection::Host), "{rebound}");
        }
        assert_eq!(found(&[host, host, auth]), Err(Rejection::Host), "which of two is meant is not known");
        for foreign in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "https://127.0.0.1:7000"),
            ("origin", "http://127.0.0.1:7001"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", "none"),
        ] {
            assert_eq!(found(&[host, auth, foreign]), Err(Rejection::Site), "{foreign:?}");
        }
        let short = &bearer[..bearer.len() - 1];
        for wrong in
            ["", "Bearer ", short, "Basic abc", &format!("{bearer}0"), &bearer.replace("Bearer", "bearer")]
        {
            assert_eq!(found(&[host, ("authorization", wrong)]), Err(Rejection::Token), "{wrong}");
        }
        assert_eq!(found(&[host]), Err(Rejection::Token));
    }

    #[test]
    fn a_change_needs_an_origin_and_json_too_and_a_read_only_dashboard_makes_none() {
        let token = AccessToken::random().unwrap();
        let check = RequestCheck::new(token.clone(), 7000);
        let bearer = format!("Bearer {}", token.as_str());
        let (host, auth) = (("host", "127.0.0.1:7000"), ("authorization", bearer.as_str()));
        let (origin, json) = (("origin", "http://127.0.0.1:7000"), ("content-type", "application/json"));
        let route = DashboardRoute::Change("shop/shop".parse().unwrap());
        let found = |check: &RequestCheck, headers: &[(&str, &str)]| check.check(&route, &parts(headers));
        assert_eq!(found(&check, &[host, auth, origin, json]), Ok(()));
        assert_eq!(found(&check, &[host, auth, json]), Err(Rejection::Site), "a browser sends `Origin`");
        assert_eq!(found(&check, &[host, auth, ("origin", "null"), json]), Err(Rejection::Site));
        assert_eq!(found(&check, &[host, origin, json]), Err(Rejection::Token));
        for simple in
            ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", ""]
        {
            let headers = [host, auth, origin, ("content-type", simple)];
            assert_eq!(found(&check, &headers), Err(Rejection::MediaType), "{simple}");
        }
        assert_eq!(found(&check, &[host, auth, origin]), Err(Rejection::MediaType));
        assert_eq!(found(&check.read_only(), &[host, auth, origin, json]), Err(Rejection::ReadOnly));
    }

    #[test]
    fn two_runs_have_different_tokens_of_256_bits() {
        let (one, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert_eq!(one.as_str().len(), 64);
        assert!(one != other, "both are {}", one.as_str());
    }
}
