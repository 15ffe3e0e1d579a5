//! `canary-ctl uninstall`.

use super::{OnCluster, Output};
use canary_release::spec::Seconds;
use clap::Args;

/// Delete the objects that `apply` created; of a local Envoy, its files
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Users of the canary are on stable with their next request. Keys stay, because other releases sign with them.

Examples:
  canary-ctl uninstall --dry-run
  canary-ctl weight 0 && canary-ctl uninstall
  canary-ctl uninstall -f local.yaml -r api       another release of the same local Envoy"
)]
pub struct Uninstall {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// Say what would go, and take nothing away
    #[arg(long)]
    pub dry_run: bool,
    /// How long to wait until no proxy sends anybody to the canary
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// Print each field that was taken away, and not the objects alone
    #[arg(short, long)]
    pub verbose: bool,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
