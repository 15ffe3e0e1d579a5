//! `canary-ctl pause` and `canary-ctl resume`.

use super::OnCluster;
use clap::Args;

/// Pause a release: other users cannot change it
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users go on as they are. Who paused it may still change it, and `weight 0` is never refused.

Examples:
  canary-ctl pause --reason 'the p99 looks odd'
  canary-ctl pause -r shop --skip-check paused     replace the pause of another user"
)]
pub struct Pause {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// The reason that `status` and refused commands print
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Let a paused release change again
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl resume
  canary-ctl resume --skip-check paused     although another user has paused it")]
pub struct Resume {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
}
