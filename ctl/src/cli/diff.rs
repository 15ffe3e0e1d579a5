//! `canary-ctl diff`.

use super::{ClusterAccess, Output, SpecFile};
use clap::Args;

/// Show what `apply` would change on the cluster
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit code 1 when there are differences.

Examples:
  canary-ctl diff
  canary-ctl diff -f shop.yaml --context staging
  canary-ctl diff -o json | jq '.changes[].object'")]
pub struct Diff {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
