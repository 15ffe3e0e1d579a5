//! Which pod of which version a shop plays: checked once, so that no response can fail on a bad name.

use std::time::Duration;

use ::http::HeaderValue;

/// How long [`crate::RunningShop::stop`] lets requests in flight finish, unless told otherwise.
pub(crate) const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// The longest value of a Kubernetes label, and so of a version.
const MAX_VERSION: usize = 63;
/// The longest name of a Kubernetes pod.
const MAX_POD: usize = 253;
/// Longer cookie names are legal, but nobody has them.
const MAX_COOKIE_NAME: usize = 64;

/// What makes one shop differ from another.
#[derive(Debug, Clone)]
pub struct ShopConfig {
    version: HeaderValue,
    pod: HeaderValue,
    session_cookie: String,
    grace: Duration,
}

impl ShopConfig {
    /// A shop of `version` in `pod`, with Java's `JSESSIONID` as its session cookie and 10 s of grace.
    ///
    /// # Errors
    /// When a name is empty, too long (version 63, pod 253 bytes) or has other characters than letters,
    /// digits, `-`, `_` and `.` (what Kubernetes allows).
    pub fn new(version: &str, pod: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            version: name("version", version, MAX_VERSION)?,
            pod: name("pod", pod, MAX_POD)?,
            session_cookie: "JSESSIONID".to_owned(),
            grace: DEFAULT_GRACE,
        })
    }

    /// The same shop with its sessions in the cookie `cookie`.
    ///
    /// # Errors
    /// When `cookie` is empty, longer than 64 bytes, or has other characters than letters, digits, `-`, `_`
    /// and `.`.
    pub fn with_session_cookie(mut self, cookie: &str) -> Result<Self, ConfigError> {
        name("session cookie", cookie, MAX_COOKIE_NAME)?;
        cookie.clone_into(&mut self.session_cookie);
        Ok(self)
    }

    /// The same shop with another time for requests in flight to finish in when it stops.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The version, as in `x-shop-version`.
    pub fn version(&self) -> &str {
        text(&self.version)
    }

    /// The pod, as in `x-shop-pod`.
    pub fn pod(&self) -> &str {
        text(&self.pod)
    }

    /// The name of the session cookie.
    pub fn session_cookie(&self) -> &str {
        &self.session_cookie
    }

    /// How long requests in flight may take to finish once the shop stops.
    pub fn grace(&self) -> Duration {
        self.grace
    }

    /// Version and pod, ready to be sent with every response.
    pub(crate) fn identity_headers(&self) -> (HeaderValue, HeaderValue) {
        (self.version.clone(), self.pod.clone())
    }
}

/// A name that a shop cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: expected 1 to {longest} letters, digits, '-', '_' or '.', found {found:?}")]
pub struct ConfigError {
    field: &'static str,
    longest: usize,
    found: String,
}

fn name(field: &'static str, found: &str, longest: usize) -> Result<HeaderValue, ConfigError> {
    let refused = || ConfigError { field, longest, found: found.to_owned() };
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if found.is_empty() || found.len() > longest || !found.bytes().all(legal) {
        return Err(refused());
    }
    HeaderValue::from_str(found).map_err(|_| refused())
}

/// `name` lets ASCII in only, so this never gives the empty string.
fn text(name: &HeaderValue) -> &str {
    name.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_no_label_can_have_is_refused_by_name() {
        let error = ShopConfig::new("v 1", "v1-a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "version: expected 1 to 63 letters, digits, '-', '_' or '.', found \"v 1\""
        );
    }

    #[test]
    fn an_empty_pod_and_a_cookie_with_an_equals_sign_are_refused() {
        assert!(ShopConfig::new("v1", "").is_err());
        assert!(ShopConfig::new("v1", "v1-a").unwrap().with_session_cookie("a=b").is_err());
    }

    #[test]
    fn the_session_cookie_is_javas_unless_told_otherwise() {
        let config = ShopConfig::new("v1", "v1-a").unwrap();
        assert_eq!(config.session_cookie(), "JSESSIONID");
        assert_eq!(config.with_session_cookie("sid").unwrap().session_cookie(), "sid");
    }
}
