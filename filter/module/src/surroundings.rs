//! What a decision asks of the proxy, answered by host calls.

use crate::{abi, clock, health};
use assignment::seal::{Kind, Remembered, Ring, Seal};
use assignment::{Environment, Policy};
use std::cell::RefCell;

/// The surroundings of one request.
pub(crate) struct Surroundings<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) remembered: &'a RefCell<Remembered>,
}

impl Environment for Surroundings<'_> {
    fn now_seconds(&self) -> u64 {
        clock::now_seconds()
    }

    fn random(&self) -> Option<u64> {
        abi::random()
    }

    fn verify<'t>(&self, ring: &Ring, kind: Kind, release_uid: &str, text: &'t [u8]) -> Option<Seal<'t>> {
        self.remembered.borrow_mut().verify(ring, kind, release_uid, text)
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
        version.is_some_and(|version| health::is_down(&version.routing_value, clock::now_seconds))
    }
}
