//! From which number of proxies on an embedded module costs more than a registry.

use crate::ModuleDigest;
use serde::Serialize;

/// An embedded module in so many proxies that a registry is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error(
    "the module is embedded: istiod sends it to each of {proxies} proxies with each weight, {}.{} MB",
    self.bytes() / 1_000_000,
    self.bytes() % 1_000_000 / 100_000
)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedAtScale {
    /// The number of proxies that serve the release.
    pub proxies: usize,
    /// The size of the module in bytes.
    pub module_bytes: usize,
}

impl EmbeddedAtScale {
    /// The smallest number of proxies that are many: between 20, where a registry gains little, and 200, where istiod needs more than twice
    /// its memory. Measured: `docs/arrival.md`.
    pub const PROXIES: usize = 100;

    /// If the module is embedded, and the proxies are many.
    pub fn observed(module: Option<&ModuleDigest>, proxies: usize) -> Option<Self> {
        let module = module.filter(|_| proxies >= Self::PROXIES)?;
        Some(Self { proxies, module_bytes: module.size })
    }

    /// The bytes that leave istiod with each weight, beside the configuration.
    const fn bytes(&self) -> usize {
        self.proxies * self.module_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_better_from_the_measured_number_of_proxies_on() {
        let module = ModuleDigest { sha256: "0".repeat(64), size: 146_971 };
        assert_eq!(EmbeddedAtScale::observed(Some(&module), EmbeddedAtScale::PROXIES - 1), None);
        assert_eq!(EmbeddedAtScale::observed(None, 1_000), None, "a registry");
        let found = EmbeddedAtScale::observed(Some(&module), 200).unwrap();
        assert_eq!(
            found.to_string(),
            "the module is embedded: istiod sends it to each of 200 proxies with each weight, 29.3 MB"
        );
        assert!(EmbeddedAtScale::observed(Some(&module), EmbeddedAtScale::PROXIES).is_some());
    }
}
