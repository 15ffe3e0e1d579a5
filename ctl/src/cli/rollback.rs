//! `canary-ctl rollback`.

use super::{ClusterAccess, DryRun, Guards, Output, SpecFile};
use crate::spec::Seconds;
use clap::Args;

/// Take the canary back, or the last promotion
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Before a promotion everyone is on stable with the next request, unless --drain lets sessions finish. After one the
version before is stable again and sessions finish where they are, unless --now. It asks nothing: it is for emergencies.

Examples:
  canary-ctl rollback                     now
  canary-ctl rollback --drain 2h          nobody new; sessions on the canary finish within two hours
  canary-ctl rollback --dry-run=client    who would lose sessions, and what would be written"
)]
pub struct Rollback {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Let sessions finish, for so long
    #[arg(long, value_name = "DURATION", conflicts_with = "now")]
    pub drain: Option<Seconds>,
    /// End sessions too: everyone is on stable with the next request
    #[arg(long)]
    pub now: bool,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    pub dry_run: Option<DryRun>,
    /// How long to wait until every proxy runs it; the write itself waits for nothing
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
