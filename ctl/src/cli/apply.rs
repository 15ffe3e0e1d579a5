//! `canary-ctl apply`.

use super::{ClusterAccess, Guards, Output, SpecFile};
use crate::spec::Seconds;
use clap::{Args, ValueEnum};

/// Bring the cluster to what a release asks for, make before break
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl apply --dry-run=client     what would be written
  canary-ctl apply --wait               write it, and wait until every proxy runs it
  canary-ctl apply --force-conflicts    take back fields that somebody else has changed")]
pub struct Apply {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    pub dry_run: Option<DryRun>,
    /// Wait until every proxy runs it
    #[arg(long)]
    pub wait: bool,
    /// How long to wait for proxies, where the order of writes needs it and at the end
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// Take fields from their owners
    #[arg(long)]
    pub force_conflicts: bool,
    /// Let a version come again that was rolled back: at the file's weight, and old pins do not count
    #[arg(long)]
    pub again: bool,
    /// The guards.
    #[command(flatten)]
    pub guards: Guards,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Who looks at what would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// We do.
    Client,
    /// The API server does too.
    Server,
}
