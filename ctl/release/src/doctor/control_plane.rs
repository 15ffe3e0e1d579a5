//! The versions of Istio on a cluster: of its control plane, of the proxies, and whether they go together.
//!
//! # Source
//! Istio, [Supported Releases](https://istio.io/latest/docs/releases/supported-releases/#control-planedata-plane-skew): the control plane can
//! be one version ahead of the data plane, and the data plane cannot be ahead of the control plane.

use crate::preflight::istio_release;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The oldest release of Istio that is supported, as README says.
const MIN_ISTIO: (u32, u32) = (1, 28);
/// The number of minor versions that an istiod may be ahead of its proxies.
const MAX_SKEW: u32 = 1;

/// The labels that say the version of an istiod whose image has no tag of a release.
const VERSION_LABELS: [&str; 2] = ["app.kubernetes.io/version", "operator.istio.io/version"];
/// The label of an istiod's revision.
const REVISION_LABEL: &str = "istio.io/rev";

/// The istiods of a cluster, or why they are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ControlPlane {
    /// These run.
    Istiods(Vec<Istiod>),
    /// It cannot be read, and why.
    Unknown(String),
}

/// A running istiod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Istiod {
    /// Its pod.
    pub pod: String,
    /// Its revision, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Its version, if it can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The source of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_in: Option<String>,
}

impl Istiod {
    /// The version of its pod: the tag of its image, which is what runs, before its labels.
    pub fn of(pod: &str, image: Option<&str>, labels: &BTreeMap<String, String>) -> Self {
        let by_image = || {
            let image = image?;
            let tag = tag(image).filter(|tag| istio_release(tag).is_some())?;
            Some((tag.to_owned(), format!("image `{image}`")))
        };
        let by_label = |name: &&str| {
            let version = labels.get(*name).filter(|version| istio_release(version).is_some())?;
            Some((version.clone(), format!("label `{name}`")))
        };
        let (version, found_in) = by_image().or_else(|| VERSION_LABELS.iter().find_map(by_label)).unzip();
        Self { pod: pod.to_owned(), revision: labels.get(REVISION_LABEL).cloned(), version, found_in }
    }
}

/// `1.30.1 (image `docker.io/istio/pilot:1.30.1` of pod istiod-1)`.
impl fmt::Display for Istiod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.version, &self.found_in) {
            (Some(version), Some(found_in)) => write!(f, "{version} ({found_in} of pod {})", self.pod)?,
            _ => write!(f, "unknown (neither image nor labels of pod {} name a release)", self.pod)?,
        }
        match &self.revision {
            Some(revision) if revision != "default" => write!(f, ", revision {revision}"),
            _ => Ok(()),
        }
    }
}

fn tag(image: &str) -> Option<&str> {
    let name = image.rsplit('/').next()?.split('@').next()?;
    name.split_once(':').map(|(_, tag)| tag)
}

/// Whether a release is older than what is supported; `false` for what names none.
pub(super) fn is_too_old(version: &str) -> bool {
    istio_release(version).is_some_and(|release| release < MIN_ISTIO)
}

/// The oldest supported release, as text.
pub(super) fn oldest_supported() -> String {
    format!("{}.{}", MIN_ISTIO.0, MIN_ISTIO.1)
}

/// Whether one of these istiods supports a proxy of this version. Also where no version of an istiod is known.
pub(super) fn is_supported(proxy: &str, istiods: &[Istiod]) -> bool {
    let Some((major, minor)) = istio_release(proxy) else { return true };
    let mut releases =
        istiods.iter().filter_map(|istiod| istio_release(istiod.version.as_deref()?)).peekable();
    if releases.peek().is_none() {
        return true;
    }
    releases.any(|istiod| istiod.0 == major && (minor..=minor.saturating_add(MAX_SKEW)).contains(&istiod.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn istiod(image: &str, labels: &[(&str, &str)]) -> Istiod {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Istiod::of("istiod-1", Some(image), &labels)
    }

    #[test]
    fn the_version_of_an_istiod_is_the_tag_of_its_image_or_that_of_a_label() {
        for (image, labels, expected) in [
            (
                "docker.io/istio/pilot:1.30.1-distroless",
                &[("app.kubernetes.io/version", "1.29.0")][..],
                "1.30.1-distroless (image `docker.io/istio/pilot:1.30.1-distroless` of pod istiod-1)",
            ),
            (
                "mirror.example.com:5000/pilot@sha256:00",
                &[("app.kubernetes.io/version", "1.29.0"), ("istio.io/rev", "1-29")],
                "1.29.0 (label `app.kubernetes.io/version` of pod istiod-1), revision 1-29",
            ),
            (
                "mirror.example.com/istio:ours",
                &[("istio.io/rev", "default")],
                "unknown (neither image nor labels of pod istiod-1 name a release)",
            ),
        ] {
            assert_eq!(istiod(image, labels).to_string(), expected);
        }
    }

    #[test]
    fn an_istiod_supports_proxies_of_its_minor_version_and_of_the_one_before() {
        let one = [istiod("pilot:1.30.1", &[])];
        let supported = |proxy: &str| (proxy.to_owned(), is_supported(proxy, &one));
        let found = ["1.28.9", "1.29.0", "1.30.4-distroless", "1.31.0", "2.30.0", "latest"].map(supported);
        let expected = [false, true, true, false, false, true];
        assert_eq!(found.map(|(_, is)| is), expected);
        let two = [istiod("pilot:1.30.1", &[]), istiod("pilot:1.28.0", &[])];
        assert!(is_supported("1.28.9", &two), "that of another revision may be its own");
        assert!(is_supported("1.20.0", &[istiod("pilot:ours", &[])]), "nothing is known");
    }

    #[test]
    fn the_oldest_supported_release_is_that_of_the_readme() {
        let readme = include_str!("../../../../README.md");
        let line = format!("| Istio | {} or later", oldest_supported());
        assert!(readme.contains(&line), "expected `{line}` in README.md");
        let found = ["1.27.9", "1.28.0", "1.31-alpha.1", "latest"].map(is_too_old);
        assert_eq!(found, [true, false, false, false]);
    }
}
