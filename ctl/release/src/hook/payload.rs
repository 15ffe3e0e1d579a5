//! What a hook is sent: Flagger's payload, with its names.
//!
//! # Source
//! `CanaryWebhookPayload` and `CanaryPhase` of Flagger 1.44 (`pkg/apis/flagger/v1beta1`).

use crate::spec::ReleaseName;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Of a checksum, as ten hexadecimal digits.
const CHECKSUM_BYTES: usize = 5;

/// The body of a call, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookPayload {
    /// The name of the release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The phase of the rollout.
    pub phase: CanaryPhase,
    /// The same for all calls of a rollout, and another one for the next.
    pub checksum: String,
    /// Names with values. Without any there is no such field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// The phase of a rollout, as Flagger calls it. Its other phases belong to parts that a rollout here does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CanaryPhase {
    /// It goes on.
    Progressing,
    /// It waits for a confirmation.
    Waiting,
    /// It has ended, and the canary was good.
    Succeeded,
    /// It has ended, and the canary was not.
    Failed,
}

impl HookPayload {
    /// Without metadata.
    pub(crate) fn new(release: &ReleaseName, phase: CanaryPhase, checksum: String) -> Self {
        let (name, namespace) = (release.name.to_string(), release.namespace.to_string());
        Self { name, namespace, phase, checksum, metadata: BTreeMap::new() }
    }

    /// With the metadata of a file. Names that the payload has already keep their values, as Flagger's events do.
    #[must_use]
    pub fn with_metadata(mut self, metadata: &BTreeMap<String, String>) -> Self {
        for (name, value) in metadata {
            self.metadata.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }
}

/// The checksum of a version in a rollout, which is named by the uid of its release and its start.
pub(crate) fn checksum(rollout: &str, canary: &str) -> String {
    let digest = Sha256::digest(format!("{rollout}/{canary}"));
    let number =
        digest.iter().take(CHECKSUM_BYTES).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:010x}")
}
