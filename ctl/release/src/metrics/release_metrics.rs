//! What the filter in one proxy counts for one release.
//!
//! Envoy's names carry two labels: `component` is the release, `tag` is the rest, separated by `/`. Istio's proxies take
//! exactly these two from a name (`canary_requests.component.shop/shop.tag.v2/canary/pin;.total`), and a local Envoy is set up
//! alike.

use super::ProxyMetrics;
use assignment::contract::VersionConfig;
use serde::Serialize;
use std::collections::BTreeMap;

/// The generation that the workers run, by installation.
const GENERATION: &str = "canary_generation_active";
/// Requests by version, role and reason.
const REQUESTS: &str = "canary_requests_total";
/// Responses by version, role and status class.
const RESPONSES: &str = "canary_responses_total";
/// When the fuse of a version closes, by version and epoch.
const FUSE: &str = "canary_fuse_open_until_seconds";
/// The reason of a tester's requests, and the role under which the responses to them are counted.
pub(super) const OVERRIDE: &str = "override";

/// Version, role, and reason or status class.
pub type Labels = (String, String, String);

/// A generation, and the installation whose generations it is one of: another installation counts from 1 again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseGeneration {
    /// When the release was installed, in seconds since 1970.
    pub installed_at_seconds: u64,
    /// The generation.
    pub generation: u64,
}

/// The counters of the filter in one proxy for one release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseMetrics {
    /// The generation of the workers, of the latest installation that they report; `None` if they never ran one. Envoy reports an
    /// installation that was removed until its listener is drained.
    pub active: Option<ReleaseGeneration>,
    /// Requests by version, role and reason.
    pub requests: BTreeMap<Labels, u64>,
    /// Responses by version, role and status class.
    pub responses: BTreeMap<Labels, u64>,
    /// When the fuse closes, or has closed, in seconds since 1970, by version and epoch. Of a version whose fuse never opened there is none.
    pub fuses: BTreeMap<(String, u32), u64>,
}

impl ReleaseMetrics {
    pub(super) fn of(metrics: &ProxyMetrics, release: &str) -> Self {
        Self {
            active: active(metrics, release),
            requests: counters(metrics, REQUESTS, release),
            responses: counters(metrics, RESPONSES, release),
            fuses: fuses(metrics, release),
        }
    }

    /// When the fuse of this version closes, or has closed, in seconds since 1970; `None` where it never opened.
    pub fn fused_until(&self, version: &VersionConfig) -> Option<u64> {
        self.fuses.get(&(version.name.clone(), version.epoch)).copied()
    }

    /// The generation of the latest installation.
    pub fn generation(&self) -> Option<u64> {
        self.active.map(|active| active.generation)
    }

    /// Requests of a version, those of testers left out where `overridden` is false.
    pub fn requests_of(&self, version: &str, overridden: bool) -> u64 {
        let counted = |((of, _, reason), count): (&Labels, &u64)| {
            let counts = of == version && (overridden || reason != OVERRIDE);
            counts.then_some(*count)
        };
        self.requests.iter().filter_map(counted).sum()
    }

    /// Responses of a version in a status class, those to testers left out.
    pub fn responses_of(&self, version: &str, class: &str) -> u64 {
        let counted = |((of, role, found), count): (&Labels, &u64)| {
            (of == version && role != OVERRIDE && found == class).then_some(*count)
        };
        self.responses.iter().filter_map(counted).sum()
    }
}

/// The gauge of the latest installation.
fn active(metrics: &ProxyMetrics, release: &str) -> Option<ReleaseGeneration> {
    let gauge = |sample: &super::Sample| {
        let installed_at_seconds = sample.labels.get("tag")?.parse().ok()?;
        Some(ReleaseGeneration { installed_at_seconds, generation: sample.count()? })
    };
    let of_release = |sample: &&super::Sample| sample.is(GENERATION, &[("component", release)]);
    metrics.samples().iter().filter(of_release).filter_map(gauge).max()
}

/// The gauges of the fuses of a release.
fn fuses(metrics: &ProxyMetrics, release: &str) -> BTreeMap<(String, u32), u64> {
    let gauge = |sample: &super::Sample| {
        let (version, epoch) = sample.labels.get("tag")?.rsplit_once('/')?;
        Some(((version.to_owned(), epoch.parse().ok()?), sample.count()?))
    };
    let of_release = metrics.samples().iter().filter(|sample| sample.is(FUSE, &[("component", release)]));
    of_release.filter_map(gauge).collect()
}

/// The counters of a release, by the three parts of their tag. A version holds no `/`.
fn counters(metrics: &ProxyMetrics, name: &str, release: &str) -> BTreeMap<Labels, u64> {
    let counter = |sample: &super::Sample| {
        let mut parts = sample.labels.get("tag")?.split('/').map(str::to_owned);
        let labels = (parts.next()?, parts.next()?, parts.next()?);
        Some((labels, sample.count()?))
    };
    let of_release = metrics.samples().iter().filter(|sample| sample.is(name, &[("component", release)]));
    of_release.filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assignment::contract::Role;

    const TEXT: &str = "# TYPE canary_generation_active gauge\n\
        canary_generation_active{component=\"shop/shop-b\",tag=\"1764000000\"} 9\n\
        canary_generation_active{component=\"shop/shop\",tag=\"1764000000\"} 14\n\
        canary_generation_active{component=\"shop/shop\",tag=\"1764000060\"} 2\n\
        canary_generation_active{component=\"shop/shop\"} 99\n\
        canary_requests_total{component=\"shop/shop\",tag=\"v1.0/stable/hash\"} 70\n\
        canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/pin\"} 20\n\
        canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/override\"} 5\n\
        canary_requests_total{component=\"shop/web\",tag=\"v2/canary/pin\"} 999\n\
        canary_responses_total{component=\"shop/shop\",tag=\"v2/canary/5xx\"} 4\n\
        canary_responses_total{component=\"shop/shop\",tag=\"v2/override/5xx\"} 6\n";

    #[test]
    fn counters_are_read_by_release_version_and_reason() {
        let metrics = ProxyMetrics::parse(TEXT);
        let shop = metrics.release("shop/shop");
        assert_eq!(shop.requests_of("v1.0", true), 70);
        assert_eq!((shop.requests_of("v2", true), shop.requests_of("v2", false)), (25, 20));
        assert_eq!(shop.responses_of("v2", "5xx"), 4);
        assert_eq!(metrics.release("shop/none"), ReleaseMetrics::default());
    }

    #[test]
    fn the_generation_of_a_release_is_not_that_of_another() {
        let metrics = ProxyMetrics::parse(TEXT);
        assert_eq!(metrics.release("shop/shop-b").generation(), Some(9));
        assert_eq!(metrics.release("shop/sho").generation(), None);
    }

    #[test]
    fn a_fuse_is_that_of_a_version_at_an_epoch() {
        let text = "canary_fuse_open_until_seconds{component=\"shop/shop\",tag=\"v2/3\"} 1764000030\n\
            canary_fuse_open_until_seconds{component=\"shop/web\",tag=\"v2/4\"} 1764000090\n";
        let shop = ProxyMetrics::parse(text).release("shop/shop");
        let version = |name: &str, epoch| VersionConfig {
            name: name.to_owned(),
            role: Role::Canary,
            epoch,
            routing: None,
        };
        assert_eq!(shop.fused_until(&version("v2", 3)), Some(1_764_000_030));
        assert_eq!(shop.fused_until(&version("v2", 4)), None, "an earlier epoch, and another release");
        assert_eq!(shop.fused_until(&version("v3", 3)), None);
    }

    #[test]
    fn the_generation_is_that_of_the_latest_installation_and_not_the_largest() {
        let metrics = ProxyMetrics::parse(TEXT);
        let latest = ReleaseGeneration { installed_at_seconds: 1_764_000_060, generation: 2 };
        assert_eq!(metrics.release("shop/shop").active, Some(latest));
    }
}
