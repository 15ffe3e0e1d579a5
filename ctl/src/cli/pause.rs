//! `canary-ctl pause` and `canary-ctl resume`.

use super::OnCluster;
use clap::Args;

/// Let nobody else change a release
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users go on as they are. Who paused it may still change it, and `weight 0` is never refused.

Examples:
  canary-ctl pause --why 'the p99 looks odd'
  canary-ctl pause -r shop --skip-check paused     take a pause over from somebody else"
)]
pub struct Pause {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// Why, for whoever is refused and for `status`
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Let a paused release change again
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl resume
  canary-ctl resume --skip-check paused     although somebody else has paused it")]
pub struct Resume {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
}
