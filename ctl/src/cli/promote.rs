//! `canary-ctl promote`.

use super::{ClusterAccess, DryRun, Guards, Output, SpecFile};
use crate::spec::Seconds;
use clap::Args;

/// Make the canary stable: the version that was drains, and nobody's session moves
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "New users are on the new stable version at once; sessions stay where they are, and the old version keeps its pods,
route and subset until `promote --finish`. With `stickiness: user` the remaining users move. Nothing is scaled.

Examples:
  canary-ctl promote --dry-run=client    who would move, and what would be written
  canary-ctl promote --wait              do it, and wait until every proxy does it
  canary-ctl promote --finish            the old version has drained: take its routes and subset away"
)]
pub struct Promote {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// How long the old version drains before it may be taken away (default: as long as pins live, `session.maxAge`)
    #[arg(long, value_name = "DURATION", conflicts_with = "finish")]
    pub drain: Option<Seconds>,
    /// End the versions that drain: their sessions are on stable with their next request, routes and subsets go
    #[arg(long)]
    pub finish: bool,
    /// Do it although many users move at once, or sessions would be cut
    #[arg(short, long)]
    pub yes: bool,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    pub dry_run: Option<DryRun>,
    /// Wait until every proxy runs it (`--finish` always does)
    #[arg(long)]
    pub wait: bool,
    /// How long to wait for proxies, where the order of writes needs it and at the end
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
