//! Whether a shared cache may keep an answer, and how to forbid it.
//!
//! # Source
//! RFC 9111 §3 (storing), §4.2.2 (heuristic freshness), §5.2.2 (response directives).

use crate::edit::HeaderEdits;

/// The caching headers of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Caching<'a> {
    lines: Vec<&'a [u8]>,
    has_expires: bool,
    /// Headers that speak to CDNs alone and overrule `Cache-Control` there.
    cdn: Vec<&'a str>,
}

/// RFC 9213 and its forerunners.
const CDN_HEADERS: [&str; 3] = ["cdn-cache-control", "surrogate-control", "cloudflare-cdn-cache-control"];

impl<'a> Caching<'a> {
    pub(super) fn note(&mut self, name: &'a [u8], value: &'a [u8]) {
        match name {
            b"cache-control" => self.lines.push(value),
            b"expires" => self.has_expires = true,
            _ if name.len() >= 15 => self.cdn.extend(CDN_HEADERS.iter().filter(|cdn| cdn.as_bytes() == name)),
            _ => {}
        }
    }

    /// Whether the answer says nothing about caching.
    pub(super) fn is_silent(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a shared cache may keep this answer.
    ///
    /// Yes with `public`, `s-maxage`, a lifetime without `private`, or CDN headers; yes for a GET without any
    /// `Cache-Control` that is no navigation, because caches guess there. `max-age=0` alone is no lifetime: pages sent
    /// that way are revalidated for every user, and an application without any cacheable page must be able to be sticky.
    pub(super) fn may_be_stored(&self, is_navigation: bool, is_cacheable_method: bool) -> bool {
        if self.has("private") || self.has("no-store") {
            return false;
        }
        if self.is_silent() && self.cdn.is_empty() {
            return self.has_expires || (is_cacheable_method && !is_navigation);
        }
        let lifetime = self.argument("max-age").is_some_and(|age| age != b"0") || self.has_expires;
        self.has("public") || self.argument("s-maxage").is_some() || lifetime || !self.cdn.is_empty()
    }

    /// Makes the answer private: what allows sharing goes, everything else stays.
    pub(super) fn make_private(&self, edits: &mut impl HeaderEdits) {
        if self.has("no-store") {
            return;
        }
        let shares = |directive: &[u8]| {
            let name = directive.split(|byte| *byte == b'=').next().unwrap_or_default();
            [&b"public"[..], b"s-maxage", b"private"].iter().any(|word| name.eq_ignore_ascii_case(word))
        };
        let mut kept: Vec<&[u8]> = vec![b"private"];
        kept.extend(self.directives().filter(|directive| !shares(directive)));
        edits.set("cache-control", &kept.join(&b", "[..]));
        for header in &self.cdn {
            edits.remove(header.as_bytes());
        }
    }

    fn directives(&self) -> impl Iterator<Item = &'a [u8]> {
        let split = self.lines.iter().flat_map(|line| line.split(|byte| *byte == b','));
        split.map(<[u8]>::trim_ascii).filter(|directive| !directive.is_empty())
    }

    fn has(&self, name: &str) -> bool {
        self.directives().any(|directive| directive.eq_ignore_ascii_case(name.as_bytes()))
    }

    fn argument(&self, name: &str) -> Option<&'a [u8]> {
        self.directives().find_map(|directive| {
            let (found, argument) = directive.split_at_checked(name.len())?;
            let argument = argument.trim_ascii().strip_prefix(b"=")?;
            found.eq_ignore_ascii_case(name.as_bytes()).then(|| argument.trim_ascii())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(cache_control: Option<&str>, expires: bool, navigation: bool) -> bool {
        let mut caching = Caching::default();
        if let Some(value) = cache_control {
            caching.note(b"cache-control", value.as_bytes());
        }
        if expires {
            caching.note(b"expires", b"Thu, 01 Dec 2033 16:00:00 GMT");
        }
        caching.may_be_stored(navigation, true)
    }

    #[test]
    fn what_a_shared_cache_may_keep_is_known() {
        for value in [
            "public",
            "PUBLIC, max-age=1",
            "s-maxage=1",
            "max-age=60",
            "max-age=0, s-maxage=5",
            "max-age = 9",
        ] {
            assert!(stored(Some(value), false, true), "{value}");
        }
        for value in
            ["private", "no-store", "private, max-age=60", "no-store, max-age=60", "no-cache", "max-age=0"]
        {
            assert!(!stored(Some(value), false, true), "{value}");
        }
        assert!(stored(None, true, true), "an expiry date is a lifetime");
        assert!(stored(None, false, false), "caches guess for what is no navigation");
        assert!(!stored(None, false, true), "a page without any word is written private");
    }
}
