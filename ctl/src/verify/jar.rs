//! A browser's cookie jar for one user, and the hands of an attacker in it.

use super::client::Lines;
use cookie_jar::Origin;
use url::{Host, Url};

/// The cookies of one user, for one address.
#[derive(Clone, Debug)]
pub(super) struct Jar {
    cookies: cookie_jar::Jar,
    url: Url,
}

impl Jar {
    /// An empty jar for requests to this URL, whose host decides what is kept.
    pub(super) fn new(url: Url) -> Self {
        Self { cookies: cookie_jar::Jar::new(), url }
    }

    /// Keeps what a response set, as a browser would; drops what it may not keep (`Secure` without TLS, a foreign domain,
    /// a `__Host-` name without its attributes).
    pub(super) fn keep(&mut self, set_cookies: &[String]) {
        for line in set_cookies {
            self.cookies.store(line.as_bytes(), origin(&self.url));
        }
    }

    /// The cookies of a request, as name and value.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.cookies.pairs(origin(&self.url));
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The value of a cookie.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.pairs().into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

fn origin(url: &Url) -> Origin<'_> {
    let secure = url.scheme() == "https" || is_loopback(url);
    Origin { host: url.host_str().unwrap_or_default(), path: url.path(), secure }
}

/// Browsers keep and send `Secure` cookies without TLS where the connection does not leave the machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// One `cookie` line of these pairs; none if there are none.
pub(super) fn cookie_line(pairs: &[(String, String)]) -> Lines {
    let parts: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if parts.is_empty() { Vec::new() } else { vec![("cookie".to_owned(), parts.join("; "))] }
}

/// The pairs with one cookie replaced, or added where it was not there.
pub(super) fn with_cookie(pairs: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let others = pairs.iter().filter(|(found, _)| found != name).cloned();
    others.chain([(name.to_owned(), value.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(url: &str, lines: &[&str]) -> Vec<String> {
        let mut jar = Jar::new(url.parse().unwrap());
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        jar.keep(&lines);
        let mut names: Vec<String> = jar.pairs().into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_browser_keeps_is_kept() {
        let lines = [
            "a=1; Path=/; HttpOnly",
            "__Host-b=2; Path=/; Secure; HttpOnly; SameSite=Lax",
            "c=3; Max-Age=60",
        ];
        assert_eq!(jar("https://h.example/x", &lines), ["__Host-b", "a", "c"]);
    }

    #[test]
    fn what_a_browser_drops_is_dropped() {
        for (url, line) in [
            ("http://h.example/", "a=1; Secure"),
            ("https://h.example/", "a=1; Domain=other.example"),
            ("https://h.example/", "__Host-a=1; Secure"),
            ("https://h.example/", "__Host-a=1; Path=/"),
            ("https://h.example/", "__Host-a=1; Path=/; Secure; Domain=h.example"),
            ("https://h.example/x", "a=1; Path=/y"),
            ("https://h.example/", "a=1; Max-Age=0"),
            ("https://h.example/", "a=1; SameSite=None"),
            ("https://h.example/", "__host-a=1; Secure"),
            ("https://h.example/", "__Secure-a=1"),
        ] {
            assert!(jar(url, &[line]).is_empty(), "{url} {line}");
        }
    }

    #[test]
    fn a_loopback_address_counts_as_secure() {
        for (url, is_kept) in [
            ("http://localhost:8080/", true),
            ("http://127.0.0.1:8080/", true),
            ("http://[::1]:8080/", true),
            ("http://192.0.2.1/", false),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(!jar(url, &["__Host-a=1; Path=/; Secure"]).is_empty(), is_kept, "{url}");
        }
    }

    #[test]
    fn a_deleted_cookie_is_gone() {
        assert_eq!(jar("http://h/", &["a=1; Path=/", "a=; Path=/; Max-Age=0"]).first(), None);
    }

    #[test]
    fn a_forged_cookie_takes_the_place_of_the_genuine_one() {
        let pairs = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
        let line = cookie_line(&with_cookie(&pairs, "a", "x"));
        assert_eq!(line, [("cookie".to_owned(), "b=2; a=x".to_owned())]);
        assert_eq!(cookie_line(&[]).first(), None);
    }
}
