//! The parts of a response that a verification reads: status, version, cookies.

use hyper::{HeaderMap, StatusCode};
use serde_json::Value;
use std::str::FromStr;

/// The place in a response that names its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// By a header of the application's whose value is the version.
    Header(String),
    /// By the filter's debug header, `release=…; version=v2; …`.
    Debug(String),
    /// By a field of a JSON body, `.deployment.version` as its keys.
    Json(Vec<String>),
}

/// The error of a text that is no valid place of the version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `json:.field` or `json:.field.field`, found `{0}`")]
pub struct VersionSourceError(String);

impl FromStr for VersionSource {
    type Err = VersionSourceError;

    /// Reads `json:.field.field`.
    fn from_str(text: &str) -> Result<Self, VersionSourceError> {
        let path = text.strip_prefix("json:.").filter(|path| !path.is_empty());
        let keys: Option<Vec<String>> = path.map(|path| path.split('.').map(str::to_owned).collect());
        match keys {
            Some(keys) if keys.iter().all(|key| !key.is_empty()) => Ok(Self::Json(keys)),
            _ => Err(VersionSourceError(text.to_owned())),
        }
    }
}

impl VersionSource {
    fn version(&self, headers: &HeaderMap, body: &[u8]) -> Option<String> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let version = match self {
            Self::Header(name) => header(name)?.to_owned(),
            Self::Debug(name) => {
                let mut parts = header(name)?.split(';').map(str::trim);
                parts.find_map(|part| part.strip_prefix("version="))?.to_owned()
            }
            Self::Json(keys) => {
                let body: Value = serde_json::from_slice(body).ok()?;
                keys.iter().try_fold(&body, |value, key| value.get(key))?.as_str()?.to_owned()
            }
        };
        Some(version).filter(|version| !version.is_empty())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// The version that sent it, if the response names it.
    pub version: Option<String>,
    /// The `Set-Cookie` lines.
    pub set_cookies: Vec<String>,
    /// Whether a cache served it, by its headers.
    pub is_from_cache: bool,
}

impl Response {
    pub(super) fn read(teller: &VersionSource, status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let lines = headers.get_all(hyper::header::SET_COOKIE).iter();
        let hit = headers.get("x-cache").and_then(|value| value.to_str().ok());
        Self {
            status,
            version: teller.version(headers, body),
            set_cookies: lines.filter_map(|line| line.to_str().ok()).map(str::to_owned).collect(),
            is_from_cache: headers.contains_key("age")
                || hit.is_some_and(|hit| hit.to_ascii_lowercase().starts_with("hit")),
        }
    }

    /// Whether the application gave it: no server error, no refusal of the proxy's.
    pub fn is_well(&self) -> bool {
        self.status < 400
    }

    /// Its version in a message: `v2`, or `403 Forbidden` of an error without one, or `no version`.
    pub fn seen(&self) -> String {
        match &self.version {
            Some(version) => version.clone(),
            None if self.is_well() => "no version".to_owned(),
            None => status_text(self.status),
        }
    }
}

/// `403 Forbidden`: a status code with its name, where RFC 9110 §15 or another RFC has given it one.
pub(super) fn status_text(code: u16) -> String {
    let name = StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason());
    name.map_or_else(|| code.to_string(), |name| format!("{code} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(teller: &VersionSource, header: (&'static str, &str), body: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header.0, header.1.parse().unwrap());
        Response::read(teller, 200, &headers, body.as_bytes()).version
    }

    #[test]
    fn each_way_of_telling_finds_the_version() {
        let debug = "release=shop/shop; version=v2; role=canary; reason=hash; generation=3";
        let json: VersionSource = "json:.deployment.version".parse().unwrap();
        for (teller, header, body) in [
            (VersionSource::Header("x-shop-version".to_owned()), ("x-shop-version", "v2"), ""),
            (VersionSource::Debug("x-canary-debug".to_owned()), ("x-canary-debug", debug), ""),
            (json, ("x", "y"), r#"{"deployment": {"version": "v2"}}"#),
        ] {
            assert_eq!(version(&teller, header, body).as_deref(), Some("v2"), "{teller:?}");
        }
    }

    #[test]
    fn a_response_that_says_nothing_has_no_version() {
        assert_eq!(version(&VersionSource::Header("a".to_owned()), ("b", "v2"), ""), None);
        assert_eq!(version(&VersionSource::Header("a".to_owned()), ("a", ""), ""), None);
        assert_eq!(version(&VersionSource::Json(vec!["a".to_owned()]), ("b", "v2"), "no JSON"), None);
        for text in ["json:", "json:.", "json:.a..b", "header:x", "version"] {
            assert!(text.parse::<VersionSource>().is_err(), "{text}");
        }
    }
}
