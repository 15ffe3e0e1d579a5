//! `canary-ctl uninstall`.

use super::{ClusterAccess, Guards, Output, SpecFile};
use crate::spec::Seconds;
use clap::Args;

/// Take a release off the cluster: only what `apply` has put there
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users of the canary are on stable with their next request. Keys stay, because other releases sign with them.

Examples:
  canary-ctl uninstall --dry-run
  canary-ctl weight 0 && canary-ctl uninstall"
)]
pub struct Uninstall {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Say what would go, and take nothing away
    #[arg(long)]
    pub dry_run: bool,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// How long to wait until no proxy sends anybody to the canary
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
