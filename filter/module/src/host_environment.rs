//! The context of a decision, by host calls.

use crate::metrics::Counters;
use crate::{abi, clock, health};
use assignment::seal::{KeyRing, Kind, Seal, VerifiedCache};
use assignment::{DecisionContext, Policy};
use std::cell::RefCell;

/// The host environment of one request.
pub(crate) struct HostEnvironment<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) verified: &'a RefCell<VerifiedCache>,
    pub(crate) counters: &'a Counters,
}

impl DecisionContext for HostEnvironment<'_> {
    fn now_seconds(&self) -> u64 {
        clock::now_seconds()
    }

    fn random(&self) -> Option<u64> {
        abi::random()
    }

    fn verify<'t>(&self, ring: &KeyRing, kind: Kind, release_uid: &str, text: &'t [u8]) -> Option<Seal<'t>> {
        self.verified.borrow_mut().verify(ring, kind, release_uid, text)
    }

    fn jwt_claim(&self, payload: &str, claim: &[String]) -> Option<Vec<u8>> {
        let mut path = format!("metadata\0filter_metadata\0envoy.filters.http.jwt_authn\0{payload}");
        for part in claim {
            path.push('\0');
            path.push_str(part);
        }
        abi::property(&path).map(|claim| claim.to_vec())
    }

    /// `source.address` is the trusted client address, as Envoy computes it from `X-Forwarded-For`.
    fn client_address(&self) -> Option<Vec<u8>> {
        let address = abi::property("source\0address")?;
        let port = address.iter().rposition(|byte| *byte == b':');
        Some(address.get(..port.unwrap_or(address.len()))?.to_vec())
    }

    fn is_unavailable(&self, release: usize, version: usize) -> bool {
        let version = self.policy.release(release).and_then(|release| release.versions.get(version));
        version.is_some_and(|version| health::is_ejected(&version.routing_value, clock::now_seconds))
    }

    fn is_fused(&self, release: usize) -> bool {
        self.counters.is_fused(self.policy, release)
    }
}
