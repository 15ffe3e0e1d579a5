//! Whether a shared cache may keep a response, and how to forbid it.
//!
//! # Source
//! RFC 9111 §3 (storing), §4.2.2 (heuristic freshness), §5.2.2 (response directives); RFC 9213 §2.1: a header for one kind of cache
//! overrules `Cache-Control` there.

use crate::edit::HeaderEdits;

/// The caching headers of a response.
#[derive(Clone, Debug, Default)]
pub(super) struct Caching<'a> {
    lines: Vec<&'a [u8]>,
    has_expires: bool,
    /// Names and values of the headers that overrule `Cache-Control` at a CDN or a reverse proxy.
    targeted: Vec<(&'a [u8], &'a [u8])>,
}

/// Of W3C's Edge Architecture, of Akamai, of nginx.
const TARGETED: [&[u8]; 3] = [b"surrogate-control", b"edge-control", b"x-accel-expires"];
/// RFC 9213 §3.1; vendors put their name before it, as in `cloudflare-cdn-cache-control`.
const CDN_CACHE_CONTROL: &[u8] = b"cdn-cache-control";

impl<'a> Caching<'a> {
    pub(super) fn note(&mut self, name: &'a [u8], value: &'a [u8]) {
        match name {
            b"cache-control" => self.lines.push(value),
            b"expires" => self.has_expires = true,
            _ if name.ends_with(CDN_CACHE_CONTROL) || TARGETED.contains(&name) => {
                self.targeted.push((name, value));
            }
            _ => {}
        }
    }

    /// Whether no shared cache may store this response: `private` or `no-store`, and no header that allows it to a CDN.
    /// Without either word one may, also with `no-cache` or `max-age=0`, and also without any word: RFC 9111 §3.
    pub(super) fn is_private(&self) -> bool {
        !self.is_shared_by_target() && (self.has("private") || self.has("no-store"))
    }

    /// Whether a shared cache may answer further requests with this response without asking the application.
    ///
    /// Yes if a header allows it to a CDN; yes with `public`, `s-maxage`, or a lifetime without `private`; yes for a GET
    /// without any `Cache-Control` that is no navigation, because caches guess there. `max-age=0` alone is no lifetime: such
    /// pages are revalidated for every user, and stickiness must work for an application that sends all pages with it.
    pub(super) fn may_be_reused(&self, is_navigation: bool, is_cacheable_method: bool) -> bool {
        if self.is_shared_by_target() {
            return true;
        }
        if self.is_private() {
            return false;
        }
        if self.lines.is_empty() {
            return self.has_expires || (is_cacheable_method && !is_navigation);
        }
        let lifetime = self.argument("max-age").is_some_and(|age| age != b"0") || self.has_expires;
        self.has("public") || self.argument("s-maxage").is_some() || lifetime
    }

    /// Makes the response private: headers for CDNs and directives that allow sharing are removed, all others stay.
    pub(super) fn make_private(&self, edits: &mut impl HeaderEdits) {
        for (name, _) in &self.targeted {
            edits.remove(name);
        }
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
    }

    /// Whether a header allows a CDN to store the response, whatever `Cache-Control` says.
    fn is_shared_by_target(&self) -> bool {
        self.targeted.iter().any(|(name, value)| match *name {
            b"x-accel-expires" => value.trim_ascii() != b"0",
            _ => !directives(value).any(|directive| {
                directive.eq_ignore_ascii_case(b"private") || directive.eq_ignore_ascii_case(b"no-store")
            }),
        })
    }

    fn directives(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().flat_map(|line| directives(line))
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

fn directives(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|directive| !directive.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reused(cache_control: Option<&str>, expires: bool, navigation: bool) -> bool {
        let mut caching = Caching::default();
        if let Some(value) = cache_control {
            caching.note(b"cache-control", value.as_bytes());
        }
        if expires {
            caching.note(b"expires", b"Thu, 01 Dec 2033 16:00:00 GMT");
        }
        caching.may_be_reused(navigation, true)
    }

    #[test]
    fn what_a_shared_cache_may_reuse_is_known() {
        for value in [
            "public",
            "PUBLIC, max-age=1",
            "s-maxage=1",
            "max-age=60",
            "max-age=0, s-maxage=5",
            "max-age = 9",
        ] {
            assert!(reused(Some(value), false, true), "{value}");
        }
        for value in
            ["private", "no-store", "private, max-age=60", "no-store, max-age=60", "no-cache", "max-age=0"]
        {
            assert!(!reused(Some(value), false, true), "{value}");
        }
        assert!(reused(None, true, true), "an expiry date is a lifetime");
        assert!(reused(None, false, false), "caches guess for what is no navigation");
        assert!(!reused(None, false, true), "a page without any word is written private");
    }
    fn of(headers: &[(&'static str, &'static str)]) -> Caching<'static> {
        let mut caching = Caching::default();
        for (name, value) in headers {
            caching.note(name.as_bytes(), value.as_bytes());
        }
        caching
    }

    #[test]
    fn a_header_that_allows_sharing_to_a_cdn_overrules_private_and_no_store() {
        for name in [
            "cdn-cache-control",
            "cloudflare-cdn-cache-control",
            "netlify-cdn-cache-control",
            "surrogate-control",
            "edge-control",
        ] {
            for word in ["private", "no-store"] {
                let shared = of(&[("cache-control", word), (name, "max-age=60")]);
                let found = (shared.is_private(), shared.may_be_reused(true, true));
                assert_eq!(found, (false, true), "{name} beside {word}");
                let forbidden = of(&[("cache-control", word), (name, "No-Store, content=\"ESI/1.0\"")]);
                let found = (forbidden.is_private(), forbidden.may_be_reused(true, true));
                assert_eq!(found, (true, false), "{name}: no-store beside {word}");
            }
        }
        assert!(!of(&[("cache-control", "private"), ("x-accel-expires", "60")]).is_private());
        assert!(of(&[("cache-control", "private"), ("x-accel-expires", "0")]).is_private());
    }

    #[test]
    fn without_private_or_no_store_a_shared_cache_may_store_it() {
        for control in ["no-cache", "max-age=0", "must-revalidate", "private=\"set-cookie\"", "public"] {
            assert!(!of(&[("cache-control", control)]).is_private(), "{control}");
        }
        assert!(!of(&[]).is_private());
        assert!(!of(&[("cdn-cache-control", "no-store")]).is_private(), "it binds a CDN alone");
    }
}
