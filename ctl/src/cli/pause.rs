//! `canary-ctl pause` and `canary-ctl resume`.

use super::{ClusterAccess, Guards, SpecFile};
use clap::Args;

/// Let nobody else change a release
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users go on as they are. Who paused it may still change it, and `weight 0` is never refused.

Examples:
  canary-ctl pause --why 'the p99 looks odd'
  canary-ctl pause -r shop --override paused     take a pause over from somebody else"
)]
pub struct Pause {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Why, for whoever is refused and for `status`
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
}

/// Let a paused release change again
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl resume
  canary-ctl resume --override paused     although somebody else has paused it")]
pub struct Resume {
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
