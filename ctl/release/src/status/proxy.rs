//! What one proxy of a release runs, as its workers report it.

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
    /// The generation that it runs; `None` where it runs none, or does not report its metrics.
    pub generation: Option<u64>,
    /// V8 in it.
    pub wasm_runtime: WasmRuntime,
    /// Why it does not report its metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl ProxyStatus {
    /// Whether it runs this generation or a later one.
    pub fn runs(&self, generation: u64) -> bool {
        self.generation.is_some_and(|found| found >= generation)
    }
}

impl fmt::Display for ProxyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ", self.namespace, self.pod)?;
        match (&self.fault, self.generation) {
            (Some(fault), _) => f.write_str(fault),
            (None, Some(generation)) => write!(f, "runs generation {generation}"),
            (None, None) => f.write_str("does not run the release"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_without_a_generation_runs_none() {
        let proxy = |generation| ProxyStatus {
            namespace: "gateways".to_owned(),
            pod: "gateway-1".to_owned(),
            generation,
            wasm_runtime: WasmRuntime::Unknown,
            fault: None,
        };
        for (found, desired, runs) in
            [(None, 0, false), (None, 3, false), (Some(2), 3, false), (Some(3), 3, true), (Some(4), 3, true)]
        {
            assert_eq!(proxy(found).runs(desired), runs, "{found:?} where {desired} is desired");
        }
    }
}
