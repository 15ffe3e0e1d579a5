//! Labels and annotations of a release's objects, by the rules of Kubernetes and without those of other owners.
//!
//! # Source
//! Kubernetes, [Labels and Selectors](https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set)
//! and [Annotations](https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/#syntax-and-character-set): a name
//! of at most 63 characters, with an optional DNS subdomain before it; `kubernetes.io/` and `k8s.io/` are reserved.

use crate::object::TOOL_MARKERS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The label that names the manager of an object.
pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The label by which istiods of several revisions share a cluster: one reads what has its revision, or no label.
pub(crate) const REVISION: &str = "istio.io/rev";

/// All labels and annotations of a release, in bytes. An object that releases share has those of each, and Kubernetes takes at
/// most 256 KiB of annotations.
const MAX_BYTES: usize = 16_384;
/// The longest name without its prefix, and the longest value of a label.
const MAX_NAME: usize = 63;
/// The longest prefix of a name.
const MAX_PREFIX: usize = 253;

/// Labels and annotations that a release gives its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// The fault of a label or an annotation.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The name is none.
    #[error(
        "expected a name like `team` or `example.com/team`, of at most 63 letters, digits, `-`, `_` and `.` after a DNS name, found `{0}`"
    )]
    Name(String),
    /// The value is none of a label.
    #[error(
        "expected at most 63 letters, digits, `-`, `_` and `.` with a letter or a digit at both ends as the value of label `{name}`, found `{value}`"
    )]
    Value {
        /// The label.
        name: String,
        value: String,
    },
    /// The name belongs to somebody else.
    #[error("expected a name of your own, found `{name}`: {owner}")]
    Reserved {
        name: String,
        /// Whose it is.
        owner: String,
    },
    /// All together are too many.
    #[error("expected at most {MAX_BYTES} bytes of labels and annotations, found {0}")]
    TooLarge(usize),
}

impl ObjectMetadata {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    /// Checks that all together are no more than objects can have.
    pub(super) fn check_size(&self) -> Result<(), MetadataError> {
        let pairs = self.labels.iter().chain(&self.annotations);
        let size = pairs.map(|(name, value)| name.len() + value.len()).sum();
        if size > MAX_BYTES { Err(MetadataError::TooLarge(size)) } else { Ok(()) }
    }
}

pub(super) fn check_label(name: &str, value: &str) -> Result<(), MetadataError> {
    check_name(name)?;
    if is_label_value(value) {
        return Ok(());
    }
    Err(MetadataError::Value { name: name.to_owned(), value: value.to_owned() })
}

/// Checks an annotation. Its value is free.
pub(super) fn check_annotation(name: &str, _value: &str) -> Result<(), MetadataError> {
    check_name(name)
}

/// Whether a text can be the name of a label or an annotation.
///
/// # Source
/// [Labels: syntax](https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set)
pub(crate) fn is_label_name(name: &str) -> bool {
    match name.split_once('/') {
        Some((prefix, short)) => is_subdomain(prefix) && is_name(short),
        None => is_name(name),
    }
}

/// Whether a text can be the value of a label.
pub(crate) fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_name(value)
}

fn check_name(name: &str) -> Result<(), MetadataError> {
    if !is_label_name(name) {
        return Err(MetadataError::Name(name.to_owned()));
    }
    match owner(name, name.split_once('/').map_or("", |(prefix, _)| prefix)) {
        Some(owner) => Err(MetadataError::Reserved { name: name.to_owned(), owner }),
        None => Ok(()),
    }
}

/// Whose a name is, where it is not the user's.
fn owner(name: &str, prefix: &str) -> Option<String> {
    let is_in = |domain: &str| {
        prefix == domain || prefix.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    if name == MANAGED_BY {
        return Some("it says that canary-ctl manages the object".to_owned());
    }
    if is_in("canary-ctl.io") {
        return Some("`canary-ctl.io/` is for canary-ctl's own".to_owned());
    }
    if let Some((.., tool)) = TOOL_MARKERS.iter().find(|(_, marker, _)| *marker == name) {
        return Some(format!("by it {tool} knows the objects that it owns"));
    }
    if is_in("helm.sh") {
        return Some("`helm.sh/` is for objects that Helm owns".to_owned());
    }
    // The recommended labels are for everybody.
    let is_kubernetes = is_in("kubernetes.io") || is_in("k8s.io");
    (is_kubernetes && prefix != "app.kubernetes.io")
        .then(|| "`kubernetes.io/` and `k8s.io/` are reserved for Kubernetes".to_owned())
}

/// Letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX_NAME
        && bytes.iter().all(|byte| is_inner(*byte))
        && is_end(bytes.first())
        && is_end(bytes.last())
}

/// A DNS subdomain: lower-case labels between dots.
fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        is_name(part)
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    text.len() <= MAX_PREFIX && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(name: &str, value: &str) -> String {
        check_label(name, value).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn names_and_values_are_those_that_the_api_server_takes() {
        let longest = "a".repeat(63);
        for (name, value) in [
            ("team", "checkout"),
            ("Team_1.a", ""),
            ("example.com/cost-centre", "4711"),
            (longest.as_str(), longest.as_str()),
            ("istio.io/rev", "1-30"),
            ("app.kubernetes.io/part-of", "shop"),
            ("kueue.x-k8s.io/queue", "a"),
            ("mykubernetes.io/a", "a"),
        ] {
            assert_eq!(says(name, value), "", "{name}={value}");
        }
        let too_long = "a".repeat(64);
        for name in
            ["", "/a", "a/", "a/b/c", "-a", "a-", "a b", "Example.com/a", "a..b/c", "ä", too_long.as_str()]
        {
            assert!(says(name, "").starts_with("expected a name like"), "{name}: {}", says(name, ""));
        }
        for value in ["a b", "-a", "a.", "a/b", too_long.as_str()] {
            assert!(says("team", value).contains("as the value of label `team`"), "{value}");
        }
        assert_eq!(check_annotation("example.com/note", "any text: \u{e4}\n"), Ok(()));
    }

    #[test]
    fn names_of_other_owners_are_refused_with_their_owner() {
        for (name, owner) in [
            ("app.kubernetes.io/managed-by", "canary-ctl manages"),
            ("canary-ctl.io/anything", "canary-ctl's own"),
            ("kubectl.kubernetes.io/last-applied-configuration", "reserved for Kubernetes"),
            ("kubernetes.io/name", "reserved for Kubernetes"),
            ("apps.k8s.io/x", "reserved for Kubernetes"),
            ("meta.helm.sh/release-name", "Helm knows"),
            ("helm.sh/resource-policy", "Helm owns"),
            ("argocd.argoproj.io/instance", "Argo CD knows"),
        ] {
            assert!(says(name, "a").contains(owner), "{name}: {}", says(name, "a"));
        }
        assert_eq!(says("argocd.argoproj.io/sync-wave", "1"), "");
    }

    #[test]
    fn all_together_have_a_limit() {
        let of = |bytes: usize| ObjectMetadata {
            annotations: BTreeMap::from([("a".to_owned(), "b".repeat(bytes))]),
            ..ObjectMetadata::default()
        };
        assert_eq!(of(MAX_BYTES - 1).check_size(), Ok(()));
        assert_eq!(of(MAX_BYTES).check_size(), Err(MetadataError::TooLarge(MAX_BYTES + 1)));
    }
}
