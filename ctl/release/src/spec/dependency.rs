//! Another release that a rollout depends on.

use super::ReleaseName;
use serde::{Deserialize, Serialize};

/// A release, and the version that it has to have as stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseDependency {
    /// The release.
    pub release: ReleaseName,
    /// Its stable version.
    pub stable: String,
}
