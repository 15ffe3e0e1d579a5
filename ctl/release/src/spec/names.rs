//! Names that Kubernetes and DNS will accept.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A DNS label (RFC 1123): what a namespace, a Service or a subset may be called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

/// The text is no DNS label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit, found `{0}`")]
pub struct LabelError(String);

impl Label {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = LabelError;
    fn from_str(text: &str) -> Result<Self, LabelError> {
        let legal = (1..=63).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-');
        if legal { Ok(Self(text.to_owned())) } else { Err(LabelError(text.to_owned())) }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `<namespace>/<name>`: what a release is called everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReleaseName {
    /// The namespace of the Service.
    pub namespace: Label,
    /// The release's own name.
    pub name: Label,
}

impl FromStr for ReleaseName {
    type Err = LabelError;
    fn from_str(text: &str) -> Result<Self, LabelError> {
        let (namespace, name) = text.split_once('/').ok_or_else(|| LabelError(text.to_owned()))?;
        Ok(Self { namespace: namespace.parse()?, name: name.parse()? })
    }
}

impl TryFrom<String> for ReleaseName {
    type Error = LabelError;
    fn try_from(text: String) -> Result<Self, LabelError> {
        text.parse()
    }
}

impl From<ReleaseName> for String {
    fn from(name: ReleaseName) -> Self {
        name.to_string()
    }
}

impl fmt::Display for ReleaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The subset of a version. Versions are label values (`2026.11_A`), subsets DNS labels, so what a label cannot hold
/// becomes `-`. Two versions can map to one subset; the caller has to check it.
pub fn version_subset(version: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    version.chars().map(legal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dns_labels_are_labels() {
        for text in ["shop", "a", "v2-1", "0"] {
            assert!(text.parse::<Label>().is_ok(), "{text}");
        }
        for text in ["", "-a", "a-", "Shop", "a.b", "a_b", &"x".repeat(64)] {
            assert!(text.parse::<Label>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_subset_is_a_dns_label_whatever_the_version() {
        for (version, subset) in [("v1", "v1"), ("2026.11_A", "2026-11-a")] {
            assert_eq!(version_subset(version), subset);
            assert!(subset.parse::<Label>().is_ok(), "{subset}");
        }
    }
}
