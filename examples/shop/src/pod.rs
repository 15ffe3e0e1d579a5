//! Which pod of which version a process plays, and how it ends: checked once, so that no response can fail on a bad name.

use std::time::Duration;

use ::http::HeaderValue;

/// The default time in which requests in flight may finish after a stop.
const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// The longest value of a Kubernetes label, and so of a version.
const MAX_VERSION: usize = 63;
/// The longest name of a Kubernetes pod.
const MAX_POD: usize = 253;

/// One pod, of the shop or of the catalog.
#[derive(Debug, Clone)]
pub struct PodConfig {
    version: HeaderValue,
    pod: HeaderValue,
    linger: Duration,
    grace: Duration,
}

impl PodConfig {
    /// A pod of `version` named `pod`, which does not linger and has 10 s of grace.
    ///
    /// # Errors
    /// When a name is empty, too long (version 63, pod 253 bytes) or has other characters than letters,
    /// digits, `-`, `_` and `.` (what Kubernetes allows).
    pub fn new(version: &str, pod: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            version: name("version", version, MAX_VERSION)?,
            pod: name("pod", pod, MAX_POD)?,
            linger: Duration::ZERO,
            grace: DEFAULT_GRACE,
        })
    }

    /// The same pod with another time for requests in flight to finish in when it stops.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The same pod, which serves for this time after a stop was requested, while its readiness fails: as long as
    /// proxies need to receive the change.
    #[must_use]
    pub fn with_linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    pub fn version(&self) -> &str {
        text(&self.version)
    }

    pub fn pod(&self) -> &str {
        text(&self.pod)
    }

    /// How long it serves after a stop was requested.
    pub fn linger(&self) -> Duration {
        self.linger
    }

    /// How long requests in flight may take to finish after that.
    pub fn grace(&self) -> Duration {
        self.grace
    }

    /// Version and pod, ready to be sent with every response.
    pub(crate) fn identity_headers(&self) -> (HeaderValue, HeaderValue) {
        (self.version.clone(), self.pod.clone())
    }
}

/// A name that a pod cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: expected 1 to {longest} letters, digits, '-', '_' or '.', found {found:?}")]
pub struct ConfigError {
    field: &'static str,
    longest: usize,
    found: String,
}

/// `found` as a header, when it is a name of at most `longest` bytes.
pub(crate) fn name(field: &'static str, found: &str, longest: usize) -> Result<HeaderValue, ConfigError> {
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
        let error = PodConfig::new("v 1", "v1-a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "version: expected 1 to 63 letters, digits, '-', '_' or '.', found \"v 1\""
        );
    }

    #[test]
    fn an_empty_pod_is_refused() {
        PodConfig::new("v1", "").unwrap_err();
    }
}
