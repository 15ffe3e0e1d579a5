//! `canary-ctl prepare`.

use super::{ClusterAccess, DryRun, Output, SkipChecks, SpecFile};
use canary_release::spec::Seconds;
use clap::Args;

/// Restart proxies that would not survive a first Wasm filter while they run
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl prepare --dry-run=client    which proxies, and which Deployments would be restarted
  canary-ctl prepare                     restart them, one Deployment after the other
  canary-ctl prepare --undo              give the label of the restart back, which restarts them once more

An Envoy before 1.38 (Istio before 1.30) on a processor with memory protection keys ends by SIGSEGV when its first Wasm
filter comes while it runs. A proxy that starts with V8 does not. One label of each Deployment's pod template is written:
canary-ctl.io/wasm-runtime. Interrupted, the same call continues.")]
pub struct Prepare {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Give the label back, and delete what makes V8 where no release needs it
    #[arg(long)]
    pub undo: bool,
    /// Write nothing: say what would be restarted (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    pub dry_run: Option<DryRun>,
    /// How long to wait for each Deployment, and for V8 in its proxies
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    pub timeout: Seconds,
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
