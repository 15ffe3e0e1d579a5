//! `canary-ctl promote`.

use super::{OnCluster, Output, Writes};
use canary_release::spec::Seconds;
use clap::Args;

/// Make the canary stable: the version that was drains, and nobody's session moves
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "New users are on the new stable version at once; sessions stay where they are, and the old version keeps its pods,
route and subset until `promote --finish`. With `stickiness: user` the remaining users move. Nothing is scaled.

Examples:
  canary-ctl promote --dry-run=client    who would move, and what would be written
  canary-ctl promote --wait              do it, and wait until every proxy does it
  canary-ctl promote --finish            the old version has drained: take its routes and subset away
  canary-ctl promote --train autumn      all releases of a train, the called services first
  canary-ctl promote --finish --train autumn"
)]
pub struct Promote {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// How long the old version drains before it may be taken away (default: as long as pins live, `session.maxAge`)
    #[arg(long, value_name = "DURATION", conflicts_with = "finish")]
    pub drain: Option<Seconds>,
    /// End the versions that drain: their sessions are on stable with their next request, routes and subsets go
    #[arg(long)]
    pub finish: bool,
    /// All releases of this train, found by their records: each before those that call it, and the next one when it has arrived in every proxy
    #[arg(long, value_name = "NAME", conflicts_with_all = ["release", "file"])]
    pub train: Option<String>,
    /// Whether to write, and how long to wait.
    #[command(flatten)]
    pub writes: Writes,
    /// Wait until every proxy runs it (`--finish` and `--train` always do)
    #[arg(long)]
    pub wait: bool,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
