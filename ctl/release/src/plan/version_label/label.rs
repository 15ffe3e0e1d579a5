//! A version label as an operator names it.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The longest prefix of a label's name: a DNS subdomain.
const MAX_PREFIX: usize = 253;
/// The longest name behind a prefix, and the longest value.
const MAX_PART: usize = 63;

/// The label that says the version of a pod, with its value: `version=v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionLabel {
    /// The label's name, with its prefix if it has one.
    pub name: String,
    /// The label's value.
    pub version: String,
}

/// The text is no label with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a label and a value as Kubernetes allows them (`version=v1`; at most 63 of `A-Z a-z 0-9 - _ .`), found `{0}`"
)]
pub struct VersionLabelError(String);

/// Whether to write the label, or to remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LabelDirection {
    /// Pods get the label.
    Add,
    /// They lose it.
    Remove,
}

impl LabelDirection {
    /// The way back.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Add => Self::Remove,
            Self::Remove => Self::Add,
        }
    }
}

impl VersionLabel {
    /// A label with this name and value.
    ///
    /// # Errors
    ///
    /// If Kubernetes does not allow the name or the value, and for an empty value.
    pub fn new(name: &str, version: &str) -> Result<Self, VersionLabelError> {
        let (prefix, last) =
            name.rsplit_once('/').map_or((None, name), |(prefix, last)| (Some(prefix), last));
        let is_prefix = |prefix: &str| {
            let is_part = |part: &str| part.len() <= MAX_PART && is_made_of(part, |byte| byte == b'-');
            let is_lower = !prefix.bytes().any(|byte| byte.is_ascii_uppercase());
            prefix.len() <= MAX_PREFIX && is_lower && prefix.split('.').all(is_part)
        };
        let is_name = |text: &str| text.len() <= MAX_PART && is_made_of(text, |byte| b"-_.".contains(&byte));
        if prefix.is_none_or(is_prefix) && is_name(last) && is_name(version) {
            return Ok(Self { name: name.to_owned(), version: version.to_owned() });
        }
        Err(VersionLabelError(format!("{name}={version}")))
    }
}

/// Whether a text is of letters, digits and these bytes, with a letter or a digit at both ends.
fn is_made_of(text: &str, more: impl Fn(u8) -> bool) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    is_end(text.bytes().next())
        && is_end(text.bytes().last())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more(byte))
}

impl FromStr for VersionLabel {
    type Err = VersionLabelError;

    fn from_str(text: &str) -> Result<Self, VersionLabelError> {
        let (name, version) = text.split_once('=').ok_or_else(|| VersionLabelError(text.to_owned()))?;
        Self::new(name, version)
    }
}

impl fmt::Display for VersionLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_kubernetes_allows_is_a_label() {
        for text in ["version=v1", "app.kubernetes.io/version=2026-11-21_a.B", "V=1"] {
            assert_eq!(text.parse::<VersionLabel>().map(|label| label.to_string()), Ok(text.to_owned()));
        }
        let long = "x".repeat(64);
        for text in [
            "version",
            "version=",
            "=v1",
            "version=v1=2",
            "version=-v1",
            "version=v1.",
            "version=v 1",
            "-version=v1",
            "/version=v1",
            "App.io/version=v1",
            "a..b/version=v1",
            "a_b/version=v1",
            "a/b/version=v1",
            &format!("version={long}"),
            &format!("{long}=v1"),
        ] {
            assert!(text.parse::<VersionLabel>().is_err(), "{text}");
        }
    }
}
