//! A browser's cookie jar for one user, and the hands of an attacker in it.

use super::client::Lines;
use cookie_store::CookieStore;
use url::Url;

/// The cookies of one user, for one address.
#[derive(Clone, Debug)]
pub(super) struct Jar {
    store: CookieStore,
    url: Url,
}

impl Jar {
    /// An empty jar for requests to this URL, whose host decides what is kept.
    pub(super) fn new(url: Url) -> Self {
        Self { store: CookieStore::default(), url }
    }

    /// Keeps what an answer set, as a browser would; drops what it may not keep (`Secure` without TLS, a foreign domain,
    /// a `__Host-` name without its attributes).
    pub(super) fn keep(&mut self, set_cookies: &[String]) {
        for line in set_cookies.iter().filter(|line| is_keepable(line)) {
            // An error is a cookie that the browser would drop; that is what happens here too.
            let _dropped = self.store.parse(line, &self.url);
        }
    }

    /// The cookies that a request carries, as name and value.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.store.get_request_values(&self.url);
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The value of a cookie.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.pairs().into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

/// RFC 6265bis §4.1.3.2: `__Host-` needs `Secure`, `Path=/` and no `Domain`. The store does not look at prefixes.
fn is_keepable(line: &str) -> bool {
    if !line.trim_start().starts_with("__Host-") {
        return true;
    }
    let attributes: Vec<String> =
        line.split(';').skip(1).map(|part| part.trim().to_ascii_lowercase()).collect();
    let has = |wanted: &str| attributes.iter().any(|attribute| attribute == wanted);
    has("secure") && has("path=/") && !attributes.iter().any(|attribute| attribute.starts_with("domain="))
}

/// One `cookie` line of these pairs; none where there are none.
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
        ] {
            assert!(jar(url, &[line]).is_empty(), "{url} {line}");
        }
    }

    #[test]
    fn a_deleted_cookie_is_gone() {
        assert!(jar("http://h/", &["a=1; Path=/", "a=; Path=/; Max-Age=0"]).is_empty());
    }

    #[test]
    fn a_forged_cookie_takes_the_place_of_the_genuine_one() {
        let pairs = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
        let line = cookie_line(&with_cookie(&pairs, "a", "x"));
        assert_eq!(line, [("cookie".to_owned(), "b=2; a=x".to_owned())]);
        assert!(cookie_line(&[]).is_empty());
    }
}
