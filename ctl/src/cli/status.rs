//! `canary-ctl status`.

use super::{ClusterAccess, Output, SpecFile};
use canary_release::spec::Seconds;
use clap::Args;

/// Show the desired state, what proxies run, and the observed share
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl status
  canary-ctl status --window 1m
  canary-ctl status --watch
  canary-ctl status -o json | jq .generation.running")]
pub struct Status {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster or local directory, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// How long requests are counted, to say what the canary gets
    #[arg(long, value_name = "DURATION", default_value = "2s")]
    pub window: Seconds,
    /// Again every two seconds, until Ctrl-C
    #[arg(short, long)]
    pub watch: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
