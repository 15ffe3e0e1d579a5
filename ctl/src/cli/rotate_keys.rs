//! `canary-ctl rotate-keys`.

use super::{ClusterAccess, Output, SkipChecks, SpecFile, Writes};
use clap::Args;

/// Rotate the signing key without invalidating sessions
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rotate-keys             a new key signs, the old one verifies
  canary-ctl rotate-keys --retire    the old one goes; a day later at the earliest

The new key verifies in every proxy before it signs in any. Interrupted, the same call continues.")]
pub struct RotateKeys {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Take the keys away that signed before
    #[arg(long)]
    pub retire: bool,
    /// Whether to write, and how long to wait.
    #[command(flatten)]
    pub writes: Writes,
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
