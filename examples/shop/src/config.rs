//! What makes one shop differ from another: its pod, its session cookie, and the catalog that it asks.

use std::time::Duration;

use crate::hop::CatalogAt;
use crate::pod::{ConfigError, PodConfig, name};

/// Longer cookie names are legal but not used in practice.
const MAX_COOKIE_NAME: usize = 64;

/// What makes one shop differ from another.
#[derive(Debug, Clone)]
pub struct ShopConfig {
    pod: PodConfig,
    pub(crate) catalog: Option<CatalogAt>,
    pub(crate) has_optional_catalog: bool,
    pub(crate) fail_percent: u8,
    pub(crate) hang_percent: u8,
    pub(crate) slow_percent: u8,
    pub(crate) forget_percent: u8,
    pub(crate) fail_user: Option<String>,
    pub(crate) fail_new_percent: u8,
    pub(crate) random_faults: bool,
    pub(crate) session_life: Option<Duration>,
    pub(crate) reopens_sessions: bool,
    pub(crate) pause: Duration,
    session_cookie: String,
}

impl From<PodConfig> for ShopConfig {
    /// A shop in this pod, with Java's `JSESSIONID` as its session cookie and without a catalog.
    fn from(pod: PodConfig) -> Self {
        Self {
            pod,
            catalog: None,
            has_optional_catalog: false,
            fail_percent: 0,
            hang_percent: 0,
            slow_percent: 0,
            forget_percent: 0,
            fail_user: None,
            fail_new_percent: 0,
            random_faults: false,
            session_life: None,
            reopens_sessions: false,
            pause: Duration::ZERO,
            session_cookie: "JSESSIONID".to_owned(),
        }
    }
}

impl ShopConfig {
    /// A shop of `version` in `pod`, otherwise as [`PodConfig::new`] and `From<PodConfig>` make it.
    ///
    /// # Errors
    /// Those of [`PodConfig::new`].
    pub fn new(version: &str, pod: &str) -> Result<Self, ConfigError> {
        PodConfig::new(version, pod).map(Self::from)
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
        self.pod = self.pod.with_grace(grace);
        self
    }

    /// The same shop, which asks this catalog.
    #[must_use]
    pub fn with_catalog(mut self, catalog: CatalogAt) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// The same shop, whose home page does without a catalog that does not answer.
    #[must_use]
    pub const fn with_optional_catalog(mut self, has_optional_catalog: bool) -> Self {
        self.has_optional_catalog = has_optional_catalog;
        self
    }

    /// The same shop with a fault: this share of its pages, in percent, is answered with 500.
    #[must_use]
    pub const fn with_fail_percent(mut self, fail_percent: u8) -> Self {
        self.fail_percent = fail_percent;
        self
    }

    /// The same shop with a fault: this share of its pages, in percent, is not answered.
    #[must_use]
    pub const fn with_hang_percent(mut self, hang_percent: u8) -> Self {
        self.hang_percent = hang_percent;
        self
    }

    /// The same shop with a fault: this share of its pages, in percent, is answered half a second later.
    #[must_use]
    pub const fn with_slow_percent(mut self, slow_percent: u8) -> Self {
        self.slow_percent = slow_percent;
        self
    }

    /// The same shop with a fault: with this share of the pages, in percent, the session that the request brought is forgotten.
    #[must_use]
    pub const fn with_forget_percent(mut self, forget_percent: u8) -> Self {
        self.forget_percent = forget_percent;
        self
    }

    /// The same shop with a fault: all pages of the user who is logged in by this name are answered with 500.
    #[must_use]
    pub fn with_fail_user(mut self, user: &str) -> Self {
        self.fail_user = Some(user.to_owned());
        self
    }

    /// The same shop with a fault: this share of its pages for clients without a session, in percent, is answered with 500.
    #[must_use]
    pub const fn with_fail_new_percent(mut self, fail_new_percent: u8) -> Self {
        self.fail_new_percent = fail_new_percent;
        self
    }

    /// The same shop whose faults come by chance: each page fails, hangs or is slow with its probability, instead of spread evenly over all.
    #[must_use]
    pub const fn with_random_faults(mut self, random_faults: bool) -> Self {
        self.random_faults = random_faults;
        self
    }

    /// The same shop whose sessions end so long after they began. A page that brings such a session opens another one.
    #[must_use]
    pub const fn with_session_life(mut self, session_life: Option<Duration>) -> Self {
        self.session_life = session_life;
        self
    }

    /// The same shop whose pages open a session in the place of an unknown one, as those of most frameworks do.
    #[must_use]
    pub const fn with_reopened_sessions(mut self, reopens_sessions: bool) -> Self {
        self.reopens_sessions = reopens_sessions;
        self
    }

    /// The same shop with a fault: for this part of each thirty seconds its pages have to wait.
    #[must_use]
    pub const fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// The version, as in `x-shop-version`.
    pub fn version(&self) -> &str {
        self.pod.version()
    }

    /// The pod, as in `x-shop-pod`.
    pub fn pod(&self) -> &str {
        self.pod.pod()
    }

    pub fn pod_config(&self) -> &PodConfig {
        &self.pod
    }

    /// The name of the session cookie.
    pub fn session_cookie(&self) -> &str {
        &self.session_cookie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_with_an_equals_sign_is_refused() {
        ShopConfig::new("v1", "v1-a").unwrap().with_session_cookie("a=b").unwrap_err();
    }

    #[test]
    fn the_session_cookie_is_javas_unless_told_otherwise() {
        let config = ShopConfig::new("v1", "v1-a").unwrap();
        assert_eq!(config.session_cookie(), "JSESSIONID");
        assert_eq!(config.with_session_cookie("sid").unwrap().session_cookie(), "sid");
    }
}
