//! A cookie jar that keeps and sends what a browser would (RFC 6265bis), and records what it refused.
//!
//! Crate `cookie_store` has neither the `__Host-` rules, nor the order in which browsers send, nor a clock that a test
//! can set, so only the parsing is borrowed (crate `cookie`). Not modelled: public suffixes beyond "one label is none of
//! ours", and partitions.

#![warn(clippy::missing_errors_doc)]

use std::time::{Duration, SystemTime};

use cookie::{Cookie, ParseError, SameSite};

/// Browsers keep no name and value longer than this, in bytes.
const MAX_PAIR: usize = 4096;
/// Browsers keep so many cookies of a domain, and evict the oldest (RFC 6265bis, 5.7: 50 at least; Chromium and Firefox: 180).
const MAX_COOKIES: usize = 180;
/// So many refused lines are kept.
const MAX_REFUSED: usize = 180;
/// Browsers cap every age at this.
const MAX_AGE: Duration = Duration::from_hours(400 * 24);

/// The origin of a request or a response.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Host without port.
    pub host: &'a str,
    /// Path without query.
    pub path: &'a str,
    /// Whether it is https, or is to be taken for it.
    pub secure: bool,
}

/// The cause for which the browser sends a request (RFC 6265bis, 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Initiator {
    /// The user, or a page of the same site.
    #[default]
    SameSite,
    /// A link of another site.
    Link,
    /// A form of another site, with POST.
    Form,
    /// A frame in a page of another site.
    Frame,
}

/// The reason for which a browser would not keep a cookie.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("not a cookie: {0}")]
    Malformed(ParseError),
    #[error("not text")]
    NotText,
    #[error("name and value are longer than 4096 bytes")]
    TooLong,
    #[error("secure, but the connection is not")]
    NotSecure,
    #[error("would overwrite a secure cookie from a connection that is not")]
    OverwritesSecure,
    #[error("SameSite=None without Secure")]
    SameSiteNone,
    #[error("set in a frame of another site without SameSite=None")]
    Frame,
    #[error("domain {0:?} does not cover the host")]
    ForeignDomain(String),
    #[error("the name's prefix asks for Secure, Path=/ and no Domain (__Host-), or Secure (__Secure-)")]
    Prefix,
}

#[derive(Clone, Debug)]
struct Stored {
    name: String,
    value: String,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    same_site: SameSite,
    /// `None`: until the browser is closed.
    expires: Option<SystemTime>,
    created: u64,
}

/// One browser profile's cookies.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    cookies: Vec<Stored>,
    refused: Vec<(String, Refused)>,
    last_created: u64,
    ahead: Duration,
}

impl Jar {
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the cookie of one `Set-Cookie` line, deletes with it, or refuses it; refusals are kept for
    /// [`Jar::refused`].
    pub fn store(&mut self, line: &[u8], origin: Origin<'_>) {
        self.store_from(line, origin, Initiator::SameSite);
    }

    /// As [`Jar::store`], for a response to a request that this initiated.
    pub fn store_from(&mut self, line: &[u8], origin: Origin<'_>, initiator: Initiator) {
        let stored = self.try_store(line, origin, initiator);
        if let (Err(reason), true) = (stored, self.refused.len() < MAX_REFUSED) {
            self.refused.push((String::from_utf8_lossy(line).into_owned(), reason));
        }
    }

    /// Names and values of the cookies for a request there, in the order in which a browser sends them.
    pub fn pairs(&self, origin: Origin<'_>) -> Vec<(&str, &str)> {
        self.pairs_from(origin, Initiator::SameSite)
    }

    /// As [`Jar::pairs`], for a request that this initiated.
    pub fn pairs_from(&self, origin: Origin<'_>, initiator: Initiator) -> Vec<(&str, &str)> {
        let now = self.now();
        let fits = |cookie: &&Stored| cookie.fits(origin, now) && cookie.goes_with(initiator);
        let mut fitting: Vec<&Stored> = self.cookies.iter().filter(fits).collect();
        fitting.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.created));
        fitting.into_iter().map(|cookie| (cookie.name.as_str(), cookie.value.as_str())).collect()
    }

    /// The value of the `Cookie` header for a request there; `None` when no cookie fits.
    pub fn header(&self, origin: Origin<'_>) -> Option<String> {
        let pairs: Vec<String> =
            self.pairs(origin).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// The value of the first living cookie of this name, wherever it would be sent to.
    pub fn get(&self, name: &str) -> Option<&str> {
        let now = self.now();
        let found = self.cookies.iter().find(|cookie| cookie.name == name && cookie.lives(now));
        found.map(|cookie| cookie.value.as_str())
    }

    /// Names of the living cookies, oldest first.
    pub fn names(&self) -> Vec<&str> {
        let now = self.now();
        self.cookies.iter().filter(|cookie| cookie.lives(now)).map(|cookie| cookie.name.as_str()).collect()
    }

    /// Sets a cookie as an attacker or a developer tool would: for this host, path `/`, no rule applied.
    pub fn plant(&mut self, name: &str, value: &str, host: &str) {
        self.cookies.retain(|cookie| cookie.name != name);
        self.last_created += 1;
        self.cookies.push(Stored {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host.to_ascii_lowercase(),
            host_only: true,
            path: "/".to_owned(),
            secure: false,
            same_site: SameSite::Lax,
            expires: None,
            created: self.last_created,
        });
    }

    /// Deletes all cookies of this name.
    pub fn remove(&mut self, name: &str) {
        self.cookies.retain(|cookie| cookie.name != name);
    }

    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Closes the browser: cookies without an age are deleted.
    pub fn end_session(&mut self) {
        self.cookies.retain(|cookie| cookie.expires.is_some());
    }

    /// Lets time pass for this jar only.
    pub fn advance(&mut self, by: Duration) {
        self.ahead += by;
    }

    /// The first lines that a browser would not have kept, each with the reason.
    pub fn refused(&self) -> &[(String, Refused)] {
        &self.refused
    }

    fn now(&self) -> SystemTime {
        SystemTime::now() + self.ahead
    }

    fn try_store(&mut self, line: &[u8], origin: Origin<'_>, initiator: Initiator) -> Result<(), Refused> {
        let line = std::str::from_utf8(line).map_err(|_| Refused::NotText)?;
        let cookie = Cookie::parse(line).map_err(Refused::Malformed)?;
        check(&cookie, origin)?;
        let mut new = self.stored(&cookie, origin)?;
        if initiator == Initiator::Frame && new.same_site != SameSite::None {
            return Err(Refused::Frame);
        }
        let guarded =
            |old: &Stored| old.secure && old.name == new.name && domain_match(&new.domain, &old.domain);
        if !origin.secure && self.cookies.iter().any(guarded) {
            return Err(Refused::OverwritesSecure);
        }
        if let Some(old) = self.cookies.iter().position(|old| old.is_same(&new)) {
            new.created = self.cookies.remove(old).created;
        }
        if new.lives(self.now()) {
            let domain = new.domain.clone();
            self.cookies.push(new);
            self.cookies.sort_by_key(|cookie| cookie.created);
            self.evict(&domain);
        }
        Ok(())
    }

    /// Takes out what is too many of a domain, as browsers do: what has expired, then what is not `Secure`, the oldest first. All are taken to
    /// be sent equally often.
    fn evict(&mut self, domain: &str) {
        let now = self.now();
        self.cookies.retain(|cookie| cookie.domain != domain || cookie.lives(now));
        while self.cookies.iter().filter(|cookie| cookie.domain == domain).count() > MAX_COOKIES {
            let of_domain = |cookie: &Stored| cookie.domain == domain;
            let insecure = self.cookies.iter().position(|cookie| of_domain(cookie) && !cookie.secure);
            let Some(oldest) = insecure.or_else(|| self.cookies.iter().position(of_domain)) else { break };
            self.cookies.remove(oldest);
        }
    }

    fn stored(&mut self, cookie: &Cookie<'_>, origin: Origin<'_>) -> Result<Stored, Refused> {
        let host = origin.host.to_ascii_lowercase();
        let domain = cookie.domain().map(str::to_ascii_lowercase).filter(|domain| !domain.is_empty());
        if let Some(domain) = &domain
            && (!domain_match(&host, domain) || (!domain.contains('.') && *domain != host))
        {
            return Err(Refused::ForeignDomain(domain.clone()));
        }
        self.last_created += 1;
        Ok(Stored {
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            host_only: domain.is_none(),
            domain: domain.unwrap_or(host),
            path: cookie
                .path()
                .filter(|path| path.starts_with('/'))
                .unwrap_or(default_path(origin.path))
                .to_owned(),
            secure: cookie.secure().unwrap_or_default(),
            // What browsers take where the attribute is missing.
            same_site: cookie.same_site().unwrap_or(SameSite::Lax),
            expires: expiry(cookie, self.now()),
            created: self.last_created,
        })
    }
}

impl Stored {
    fn lives(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }

    fn fits(&self, origin: Origin<'_>, now: SystemTime) -> bool {
        let host = origin.host.to_ascii_lowercase();
        let domain = if self.host_only { host == self.domain } else { domain_match(&host, &self.domain) };
        domain && path_match(origin.path, &self.path) && (origin.secure || !self.secure) && self.lives(now)
    }

    /// RFC 6265bis, 5.8.3.
    fn goes_with(&self, initiator: Initiator) -> bool {
        match self.same_site {
            SameSite::None => true,
            SameSite::Lax => matches!(initiator, Initiator::SameSite | Initiator::Link),
            SameSite::Strict => initiator == Initiator::SameSite,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let key = |cookie: &Self| {
            (cookie.name.clone(), cookie.domain.clone(), cookie.host_only, cookie.path.clone())
        };
        key(self) == key(other)
    }
}

/// The rules that depend on this cookie alone.
fn check(cookie: &Cookie<'_>, origin: Origin<'_>) -> Result<(), Refused> {
    let secure = cookie.secure().unwrap_or_default();
    let name = cookie.name().to_ascii_lowercase();
    if cookie.name().len() + cookie.value().len() > MAX_PAIR {
        return Err(Refused::TooLong);
    }
    if secure && !origin.secure {
        return Err(Refused::NotSecure);
    }
    if cookie.same_site() == Some(SameSite::None) && !secure {
        return Err(Refused::SameSiteNone);
    }
    let host_rules = secure && cookie.path() == Some("/") && cookie.domain().is_none();
    if (name.starts_with("__host-") && !host_rules) || (name.starts_with("__secure-") && !secure) {
        return Err(Refused::Prefix);
    }
    Ok(())
}

/// `Max-Age` beats `Expires`; an age of 0 or less is in the past.
fn expiry(cookie: &Cookie<'_>, now: SystemTime) -> Option<SystemTime> {
    let at = match cookie.max_age() {
        Some(age) => now + Duration::try_from(age).unwrap_or_default().min(MAX_AGE),
        None => cookie.expires_datetime()?.into(),
    };
    Some(at.min(now + MAX_AGE))
}

/// RFC 6265, 5.1.3; an address has no subdomains.
fn domain_match(host: &str, domain: &str) -> bool {
    let is_below = host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    host == domain || (is_below && host.parse::<std::net::IpAddr>().is_err())
}

/// RFC 6265, 5.1.4.
fn path_match(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

/// RFC 6265, 5.1.4: the folder that the request's path is in.
fn default_path(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((folder, _)) if folder.starts_with('/') => folder,
        _ => "/",
    }
}
