//! What a release asks of every list of routes that leads to its Service.

use crate::plan::Record;
use crate::spec::{names_service, version_subset};
use assignment::contract::Role;
use std::collections::BTreeSet;

/// The ways to each version of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways {
    pub(crate) release: String,
    namespace: String,
    pub(super) service: String,
    pub(super) stable: String,
    /// The live versions and those that leave, in the order of their names.
    pub(super) versions: BTreeSet<String>,
}

impl Ways {
    /// As a record says it. `release` is `<namespace>/<name>`.
    pub fn of(release: &str, record: &Record) -> Self {
        let live = record.standing.versions.iter().map(|version| version.name.clone());
        Self {
            release: release.to_owned(),
            namespace: release.split('/').next().unwrap_or_default().to_owned(),
            service: record.service.name.clone(),
            stable: record.standing.version_of(Role::Stable).unwrap_or_default().to_owned(),
            versions: live.chain(record.leaving.iter().cloned()).collect(),
        }
    }

    /// Whether a destination's host, in an object of the release's namespace, is its Service.
    pub(super) fn ends_at(&self, host: &str) -> bool {
        names_service(host, &self.service, &self.namespace)
    }

    pub(super) fn stable_subset(&self) -> String {
        version_subset(&self.stable)
    }
}
