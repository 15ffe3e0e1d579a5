//! The address of an image: `oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`.
//!
//! # Source
//! OCI distribution specification 1.1, *Pulling manifests*: which names, tags and digests there are.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

const SCHEME: &str = "oci://";
/// Istio's agent takes no shorter repository, and no longer one.
const REPOSITORY_BYTES: std::ops::RangeInclusive<usize> = 2..=255;
const MAX_TAG_BYTES: usize = 128;
/// Names of Docker Hub; its API has another one.
const DOCKER_HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// The address of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageReference {
    /// With the port, where there is one.
    host: String,
    repository: String,
    pub(crate) tag: Option<String>,
    /// `sha256:` and 64 hexadecimal digits.
    pub(crate) digest: Option<String>,
}

/// The text is no address of an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found `{found}`")]
pub struct ReferenceError {
    expected: &'static str,
    found: String,
}

impl ImageReference {
    /// Whether a text is meant as one.
    pub(crate) fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The repository, without host and tag.
    pub(crate) fn repository(&self) -> &str {
        &self.repository
    }

    /// Host and port of the registry's API.
    pub(crate) fn api_host(&self) -> &str {
        if self.is_docker_hub() { "registry-1.docker.io" } else { &self.host }
    }

    /// What Docker's configuration calls the registry.
    pub(crate) fn credential_server(&self) -> &str {
        if self.is_docker_hub() { "https://index.docker.io/v1/" } else { &self.host }
    }

    /// Whether the registry is on this machine, by its name: plain HTTP stays on it then.
    pub(crate) fn is_loopback(&self) -> bool {
        let name = split_port(&self.host).0;
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        name == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// What a request for its manifest names: the digest, else the tag.
    pub(crate) fn version(&self) -> &str {
        self.digest.as_deref().or(self.tag.as_deref()).unwrap_or("latest")
    }

    /// The same repository, with this tag.
    pub(crate) fn with_tag(&self, tag: impl Into<String>) -> Self {
        Self { tag: Some(tag.into()), digest: None, ..self.clone() }
    }

    /// The same repository, with this digest alone: what it names never changes.
    pub(crate) fn with_digest(&self, digest: impl Into<String>) -> Self {
        Self { tag: None, digest: Some(digest.into()), ..self.clone() }
    }

    fn is_docker_hub(&self) -> bool {
        DOCKER_HUB.contains(&self.host.as_str())
    }
}

/// Host and port; the colons of an address in brackets are none of a port.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

fn is_host(host: &str) -> bool {
    let (name, port) = split_port(host);
    let is_address = |name: &str| name.parse::<std::net::Ipv6Addr>().is_ok();
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    let is_valid = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(address) => is_address(address),
        None => !name.is_empty() && is_name(name),
    };
    is_valid && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0))
}

fn is_repository(repository: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_component = |component: &str| {
        let bytes = component.as_bytes();
        bytes.iter().all(|byte| is_end(*byte) || b"._-".contains(byte))
            && bytes.first().is_some_and(|byte| is_end(*byte))
            && bytes.last().is_some_and(|byte| is_end(*byte))
    };
    REPOSITORY_BYTES.contains(&repository.len()) && repository.split('/').all(is_component)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=MAX_TAG_BYTES).contains(&tag.len())
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

fn is_digest(digest: &str) -> bool {
    let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hexadecimal))
}

impl FromStr for ImageReference {
    type Err = ReferenceError;
    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let wrong = |expected| ReferenceError { expected, found: text.to_owned() };
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| wrong("`oci://HOST/REPOSITORY[:TAG]`"))?;
        let (host, path) = rest.split_once('/').ok_or_else(|| wrong("`oci://HOST/REPOSITORY[:TAG]`"))?;
        let (path, digest) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(digest)),
            None => (path, None),
        };
        let (repository, tag) = match path.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (path, None),
        };
        if !is_host(host) {
            return Err(wrong("a host name or address, and perhaps a port, after `oci://`"));
        }
        if !is_repository(repository) {
            return Err(wrong("a repository of 2 to 255 of `a-z 0-9 . _ - /` after the host"));
        }
        if !tag.is_none_or(is_tag) {
            return Err(wrong("a tag of 1 to 128 of `A-Z a-z 0-9 . _ -` after the repository"));
        }
        if !digest.is_none_or(is_digest) {
            return Err(wrong("`sha256:` and 64 lower-case hexadecimal digits after `@`"));
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (host, repository) = (host.to_ascii_lowercase(), repository.to_owned());
        Ok(Self { host, repository, tag: owned(tag), digest: owned(digest) })
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ImageReference {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_goes_there_and_back() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for text in [
            "oci://registry.example.com/canary/filter",
            "oci://registry.example.com:5000/canary/filter:1.0",
            "oci://127.0.0.1:5000/canary-filter:v1_2",
            "oci://[::1]:5000/canary/filter",
            "oci://[::1]/canary/filter",
            &format!("oci://ghcr.io/a/b@{digest}"),
            &format!("oci://ghcr.io/a/b:1@{digest}"),
        ] {
            assert_eq!(read(text).to_string(), text);
        }
        let read = read(&format!("oci://ghcr.io/a/b:1@{digest}"));
        assert_eq!((read.version(), read.repository()), (digest.as_str(), "a/b"));
    }

    #[test]
    fn what_no_registry_takes_is_refused_with_the_part_that_is_wrong() {
        for (text, part) in [
            ("registry.example.com/canary/filter", "`oci://HOST"),
            ("oci://registry.example.com", "`oci://HOST"),
            ("oci:///canary/filter", "a host name"),
            ("oci://user@host/canary/filter", "a host name"),
            ("oci://host:0/canary/filter", "a host name"),
            ("oci://host:99999/canary/filter", "a host name"),
            ("oci://host:/canary/filter", "a host name"),
            ("oci://[::1/canary/filter", "a host name"),
            ("oci://host/Canary/filter", "a repository"),
            ("oci://host/a", "a repository"),
            ("oci://host/a//b", "a repository"),
            ("oci://host/../b", "a repository"),
            ("oci://host/a/b?x=1", "a repository"),
            ("oci://host/a/b:", "a tag"),
            ("oci://host/a/b:-1", "a tag"),
            ("oci://host/a/b:1/2", "a tag"),
            ("oci://host/a/b@sha256:00", "`sha256:`"),
            ("oci://host/a/b@md5:00", "`sha256:`"),
        ] {
            let error = text.parse::<ImageReference>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("expected {part}")), "{text}: {error}");
        }
    }

    #[test]
    fn the_registry_of_this_machine_is_known_by_its_name_or_address() {
        for (host, is_loopback) in [
            ("localhost", true),
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("127.3.2.1", true),
            ("[::1]:5000", true),
            ("10.0.0.1:5000", false),
            ("localhost.example.com", false),
            ("registry.example.com:5000", false),
        ] {
            assert_eq!(read(&format!("oci://{host}/canary/filter")).is_loopback(), is_loopback, "{host}");
        }
    }

    #[test]
    fn docker_hub_has_an_api_and_credentials_under_names_of_their_own() {
        let hub = read("oci://docker.io/example/filter:1");
        assert_eq!(hub.api_host(), "registry-1.docker.io");
        assert_eq!(hub.credential_server(), "https://index.docker.io/v1/");
        let other = read("oci://quay.io/example/filter:1");
        assert_eq!((other.api_host(), other.credential_server()), ("quay.io", "quay.io"));
    }
}
