//! `canary-ctl apply`.

use super::{ClusterAccess, Output, SkipChecks, SpecFile, Writes};
use clap::Args;

/// Bring the cluster to what a release asks for, make before break
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[command(after_help = "Examples:
  canary-ctl apply --dry-run=client     what would be written
  canary-ctl apply --wait               write it, and wait until every proxy runs it
  canary-ctl apply --force-conflicts    take back fields that another field manager has changed")]
pub struct Apply {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Whether to write, and how long to wait.
    #[command(flatten)]
    pub writes: Writes,
    /// Wait until every proxy runs it
    #[arg(long)]
    pub wait: bool,
    /// Take fields from their owners, and objects under our names as a whole
    #[arg(long)]
    pub force_conflicts: bool,
    /// Apply a version that was rolled back: at the file's weight, and its old pins do not count
    #[arg(long)]
    pub allow_rolled_back: bool,
    /// Edit objects of Helm and other tools, too (`routes: inject`)
    #[arg(long)]
    pub take_ownership: bool,
    /// Print each field that was written, and not the objects alone
    #[arg(short, long)]
    pub verbose: bool,
    /// Which checks are skipped.
    #[command(flatten)]
    pub checks: SkipChecks,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
