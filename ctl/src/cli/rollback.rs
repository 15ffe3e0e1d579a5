//! `canary-ctl rollback`.

use super::{OnCluster, Output, Writes};
use canary_release::spec::Seconds;
use clap::Args;

/// Roll back the canary, or the last promotion
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Before a promotion everyone is on stable with the next request, unless --drain lets sessions finish. After one the
version before is stable again and sessions finish where they are, unless --now. It asks nothing: it is for emergencies.

Examples:
  canary-ctl rollback                     now
  canary-ctl rollback --drain 2h          no new users; sessions on the canary finish within two hours
  canary-ctl rollback --dry-run=client    who would lose sessions, and what would be written
  canary-ctl rollback --train autumn      all releases of a train, the callers first"
)]
pub struct Rollback {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// Let sessions finish, for so long
    #[arg(long, value_name = "DURATION", conflicts_with = "now")]
    pub drain: Option<Seconds>,
    /// End sessions too: everyone is on stable with the next request
    #[arg(long)]
    pub now: bool,
    /// Roll back all canaries of this train, and promotions that were made together: each release after those that call it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["release", "file"])]
    pub train: Option<String>,
    /// Whether to write, and how long to wait.
    #[command(flatten)]
    pub writes: Writes,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
