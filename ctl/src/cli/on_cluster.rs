//! What every verb is told that steers one release on a cluster.

use super::{ClusterAccess, Guards, SpecFile};
use clap::Args;

/// Which release, where, and past which guards.
#[derive(Clone, Debug, Args)]
pub struct OnCluster {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
}
