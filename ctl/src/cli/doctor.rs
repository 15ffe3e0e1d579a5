//! `canary-ctl doctor`.

use super::{ClusterAccess, Output, SpecFile};
use clap::Args;

/// Find everything that is wrong with a release and its cluster, and write nothing
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "It checks the Service and its pods, the Gateways with their pods, hosts and protocol, the rights of the user, what the API server
says to every object (by dry runs), the proxies (metrics, V8, versions of Istio), and the signing keys. Before the first `apply` and after it.

Exit code 1 when an error is found.

Examples:
  canary-ctl doctor
  canary-ctl doctor -f shop.yaml --context staging
  canary-ctl doctor -o json | jq '.findings[] | select(.severity == \"error\")'"
)]
pub struct Doctor {
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
