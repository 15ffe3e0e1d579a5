//! What every verb is told that steers one release on a cluster.

use super::{ClusterAccess, SkipChecks, SpecFile};
use clap::Args;

/// Which release, where, and which checks are skipped.
#[derive(Clone, Debug, Args)]
pub struct OnCluster {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Which checks are skipped.
    #[command(flatten)]
    pub checks: SkipChecks,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
}
