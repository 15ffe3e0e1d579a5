//! What a release needs in every list of routes that leads to its Service.

use crate::spec::{ServiceHost, version_subset};
use std::collections::BTreeSet;

/// The route to each version of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTargets {
    pub(crate) release: String,
    pub(crate) namespace: String,
    pub(crate) service: String,
    pub(crate) stable: String,
    /// The live versions and those that leave, in the order of their names.
    pub(crate) versions: BTreeSet<String>,
}

impl RouteTargets {
    /// Whether a destination's host, in an object of the release's namespace, is its Service.
    pub(crate) fn ends_at(&self, host: &str) -> bool {
        ServiceHost::new(&self.service, &self.namespace).matches(host, &self.namespace)
    }

    pub(crate) fn stable_subset(&self) -> String {
        version_subset(&self.stable)
    }
}
