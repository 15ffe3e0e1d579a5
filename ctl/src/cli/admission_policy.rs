//! `canary-ctl generate admission-policy`.

use super::SpecFile;
use clap::Args;

/// Print a policy for the API server that refuses a Helm upgrade without the post-renderer
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl generate admission-policy | kubectl apply -f -

A ValidatingAdmissionPolicy and its binding to the release's namespace, for Kubernetes 1.30 or later.
It refuses an update of a version's Deployment that takes the version from the labels of its pods, or
from its annotation. `docs/helm.md` says what it cannot refuse.")]
pub struct AdmissionPolicy {
    /// The release: its namespace and version label.
    #[command(flatten)]
    pub spec: SpecFile,
}
