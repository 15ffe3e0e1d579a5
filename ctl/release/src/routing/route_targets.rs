//! What a release needs in every list of routes that leads to its Service.

use crate::record::Record;
use crate::spec::{ServiceHost, version_subset};
use assignment::contract::Role;
use std::collections::BTreeSet;

/// The route to each version of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTargets {
    pub(crate) release: String,
    namespace: String,
    pub(crate) service: String,
    pub(crate) stable: String,
    /// The live versions and those that leave, in the order of their names.
    pub(crate) versions: BTreeSet<String>,
}

impl RouteTargets {
    /// From a record. `release` is `<namespace>/<name>`.
    pub fn of(release: &str, record: &Record) -> Self {
        let namespace = release.split('/').next().unwrap_or_default();
        let live = record.state.versions.iter().map(|version| version.name.clone());
        Self {
            release: release.to_owned(),
            service: record.service.name.clone(),
            namespace: namespace.to_owned(),
            stable: record.state.version_of(Role::Stable).unwrap_or_default().to_owned(),
            versions: live.chain(record.leaving.iter().cloned()).collect(),
        }
    }

    /// Whether a destination's host, in an object of the release's namespace, is its Service.
    pub(crate) fn ends_at(&self, host: &str) -> bool {
        ServiceHost::new(&self.service, &self.namespace).matches(host, &self.namespace)
    }

    pub(crate) fn stable_subset(&self) -> String {
        version_subset(&self.stable)
    }
}
