//! Whether a running proxy survives its first Wasm filter.
//!
//! An Envoy that has no V8 when its workers start creates it with its first Wasm filter. Before Envoy 1.38 the workers
//! then have no right to V8's memory protection key, and a processor that has such keys ends the process by SIGSEGV.
//!
//! # Source
//! Observed on Envoy 1.36 and 1.37 (`docs/istio.md`); [V8's issue](https://issues.chromium.org/issues/360909072).

use super::{Alternative, CheckFailed, PreflightCheck};
use crate::metrics::ProxyMetrics;
use serde::Serialize;
use std::fmt;

/// The first Istio whose Envoy (1.38) survives it.
const SAFE_ISTIO: (u32, u32) = (1, 30);
/// The metric of port 15090 that counts the VMs of V8 since the proxy started.
const V8_CREATED: &str = "envoy_wasm_envoy_wasm_runtime_v8_created";

/// The state of V8 in a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WasmRuntime {
    /// V8 exists: further Wasm filters are safe.
    Present,
    /// V8 may be missing, and the proxy's Istio is one whose Envoy does not need it beforehand.
    NotNeeded,
    /// V8 is missing: the next Wasm filter is the proxy's first.
    Missing,
    /// The proxy does not answer.
    Unknown,
}

/// A proxy, and what is known of V8 in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ProxyRuntime {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// V8 in its proxy.
    pub runtime: WasmRuntime,
}

impl WasmRuntime {
    /// From the image of the proxy and its metrics; `None` for a proxy that does not report them.
    pub fn of(image: Option<&str>, metrics: Option<&ProxyMetrics>) -> Self {
        let created = metrics.map(|metrics| metrics.count(V8_CREATED, &[]).unwrap_or_default());
        match created {
            Some(created) if created > 0 => Self::Present,
            _ if image
                .and_then(istio_tag)
                .and_then(istio_release)
                .is_some_and(|release| release >= SAFE_ISTIO) =>
            {
                Self::NotNeeded
            }
            Some(_) => Self::Missing,
            None => Self::Unknown,
        }
    }

    /// Whether a Wasm filter can be added while the proxy runs; false if that is not known.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Present | Self::NotNeeded)
    }
}

/// Refuses a change that brings a first Wasm filter to running proxies that may not survive it.
///
/// # Errors
///
/// If one of them is not safe and the check is not skipped.
pub fn check_wasm_runtime(proxies: &[ProxyRuntime], skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
    let Some(message) = danger(proxies) else { return Ok(()) };
    let proxies = proxies.iter().filter(|proxy| !proxy.runtime.is_safe()).cloned().collect();
    PreflightCheck::NoWasmRuntime.refuse(skipped, message, Alternative::RestartProxies { proxies })
}

/// The danger for proxies that are not safe; `None` if all are.
fn danger(proxies: &[ProxyRuntime]) -> Option<String> {
    let unsafe_ones: Vec<String> =
        proxies.iter().filter(|proxy| !proxy.runtime.is_safe()).map(ToString::to_string).collect();
    (!unsafe_ones.is_empty()).then(|| {
        format!(
            "expected V8 in every proxy, found {}: an Envoy before 1.38 on a processor with memory protection keys ends by \
             SIGSEGV when its first Wasm filter comes while it runs",
            unsafe_ones.join("; ")
        )
    })
}

/// The tag of Istio's proxy image, which is the version of Istio: `1.30.1-distroless`.
pub fn istio_tag(image: &str) -> Option<&str> {
    let name = image.rsplit('/').next()?.split('@').next()?;
    name.split_once(':').filter(|(name, _)| *name == "proxyv2").map(|(_, tag)| tag)
}

/// The `major.minor` of a version of Istio: 1.30 of `1.30.1-distroless`.
pub(crate) fn istio_release(version: &str) -> Option<(u32, u32)> {
    let (major, rest) = version.split_once('.')?;
    let minor = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl fmt::Display for ProxyRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, pod, runtime } = self;
        write!(f, "{namespace}/{pod} ")?;
        f.write_str(match runtime {
            WasmRuntime::Present => "has V8",
            WasmRuntime::NotNeeded => "runs an Istio that does not need V8 beforehand",
            WasmRuntime::Missing => "has none",
            WasmRuntime::Unknown => "does not answer on port 15090",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_V8: &str = "# TYPE envoy_wasm_envoy_wasm_runtime_v8_created counter\n\
                           envoy_wasm_envoy_wasm_runtime_v8_created{} 5\n";
    const WITHOUT_V8: &str = "# TYPE envoy_wasm_envoy_wasm_runtime_v8_created counter\n\
                              envoy_wasm_envoy_wasm_runtime_v8_created{} 0\n";

    #[test]
    fn a_proxy_is_safe_by_its_metric_or_by_its_istio_and_by_nothing_else() {
        let cases = [
            (Some("docker.io/istio/proxyv2:1.28.1"), Some(WITH_V8), WasmRuntime::Present),
            (None, Some(WITH_V8), WasmRuntime::Present),
            (Some("docker.io/istio/proxyv2:1.29.0"), Some(WITHOUT_V8), WasmRuntime::Missing),
            (Some("docker.io/istio/proxyv2:1.29.0"), Some(""), WasmRuntime::Missing),
            (Some("docker.io/istio/proxyv2:1.29.0"), None, WasmRuntime::Unknown),
            (Some("mirror.example/x/proxyv2:1.30.2-distroless"), Some(""), WasmRuntime::NotNeeded),
            (Some("proxyv2:1.31-alpha.3@sha256:00"), None, WasmRuntime::NotNeeded),
            (Some("docker.io/istio/proxyv2@sha256:00"), Some(""), WasmRuntime::Missing),
            (Some("docker.io/istio/proxyv2:latest"), Some(""), WasmRuntime::Missing),
            (Some("docker.io/acme/envoy:1.40.0"), Some(""), WasmRuntime::Missing),
            (None, None, WasmRuntime::Unknown),
        ];
        for (image, metrics, expected) in cases {
            let parsed = metrics.map(ProxyMetrics::parse);
            let found = WasmRuntime::of(image, parsed.as_ref());
            assert_eq!(found, expected, "image {image:?}, metrics {metrics:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_proxies_in_danger_and_no_others() {
        let proxy = |pod: &str, runtime| ProxyRuntime {
            namespace: "istio-ingress".to_owned(),
            pod: pod.to_owned(),
            runtime,
        };
        let proxies = [
            proxy("a", WasmRuntime::Present),
            proxy("b", WasmRuntime::Missing),
            proxy("c", WasmRuntime::NotNeeded),
            proxy("d", WasmRuntime::Unknown),
        ];
        let refused = check_wasm_runtime(&proxies, &[PreflightCheck::NoReadyPods]).unwrap_err();
        assert_eq!(refused.check, PreflightCheck::NoWasmRuntime);
        assert!(
            refused.message.contains(
                "found istio-ingress/b has none; istio-ingress/d does not answer on port 15090: an Envoy"
            ),
            "{refused}"
        );
        let in_danger = [proxies[1].clone(), proxies[3].clone()].to_vec();
        assert_eq!(refused.alternative, Alternative::RestartProxies { proxies: in_danger });
        assert_eq!(check_wasm_runtime(&proxies, &[PreflightCheck::NoWasmRuntime]), Ok(()));
        assert_eq!(check_wasm_runtime(&proxies[..1], &[]), Ok(()));
    }
}
