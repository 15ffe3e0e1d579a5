//! What one proxy of a release runs, as its workers report it.

use super::ProxyFault;
use crate::metrics::ReleaseGeneration;
use crate::preflight::WasmRuntime;
use serde::Serialize;
use std::fmt;

/// A proxy that serves a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyStatus {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// Its generation; `None` if it runs none, or does not report its metrics.
    #[serde(flatten)]
    pub active: Option<ReleaseGeneration>,
    /// When the fuse of the canary closes in it, or has closed, in seconds since 1970; `None` where it never opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fused_until_seconds: Option<u64>,
    /// V8 in it.
    pub wasm_runtime: WasmRuntime,
    /// The fault for which it does not report its metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ProxyFault>,
}

impl ProxyStatus {
    /// Whether it runs this generation of this installation. A later one is another: the record may have been restored from a
    /// backup.
    pub fn runs(&self, desired: ReleaseGeneration) -> bool {
        self.active == Some(desired)
    }

    /// Whether it runs a later generation of this installation.
    pub fn is_ahead_of(&self, desired: ReleaseGeneration) -> bool {
        self.active.is_some_and(|active| {
            active.installed_at_seconds == desired.installed_at_seconds
                && active.generation > desired.generation
        })
    }

    /// Its state against the desired generation.
    pub fn compared_with(&self, desired: ReleaseGeneration) -> String {
        match self.active {
            Some(active) if active.installed_at_seconds != desired.installed_at_seconds => {
                format!("{self} of another installation")
            }
            _ => self.to_string(),
        }
    }

    /// Whether it responds, and runs nothing of the release.
    pub const fn has_no_release(&self) -> bool {
        self.active.is_none() && self.fault.is_none()
    }
}

impl fmt::Display for ProxyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ", self.namespace, self.pod)?;
        match (&self.fault, self.active) {
            (Some(fault), _) => fault.fmt(f),
            (None, Some(active)) => write!(f, "runs generation {}", active.generation),
            (None, None) => f.write_str("does not run the release"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_runs_the_generation_of_the_same_installation_alone() {
        let at = |installed_at_seconds, generation| ReleaseGeneration { installed_at_seconds, generation };
        let proxy = |active| ProxyStatus {
            namespace: "gateways".to_owned(),
            pod: "gateway-1".to_owned(),
            active,
            fused_until_seconds: None,
            wasm_runtime: WasmRuntime::Unknown,
            fault: None,
        };
        for (found, runs) in [
            (None, false),
            (Some(at(7, 2)), false),
            (Some(at(7, 3)), true),
            (Some(at(7, 4)), false),
            (Some(at(6, 3)), false),
        ] {
            assert_eq!(proxy(found).runs(at(7, 3)), runs, "{found:?} where generation 3 of 7 is desired");
        }
    }
}
