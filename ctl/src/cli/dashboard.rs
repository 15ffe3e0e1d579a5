//! `canary-ctl dashboard`.

use super::{ClusterAccess, SpecFile};
use clap::Args;

/// Show and change releases on a page on this machine: versions, users, responses, proxies, problems
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl dashboard               the release of canary.yaml, on a cluster or of a local Envoy
  canary-ctl dashboard -r blog/web   another release
  canary-ctl dashboard --all         all that the kubeconfig may see; no file is read
  canary-ctl dashboard --read-only   without buttons
  canary-ctl dashboard --port 8001   through `ssh -L 8001:127.0.0.1:8001`

The page is served on 127.0.0.1 until Ctrl-C. Its URL contains a random token, without which there are no data.
What it reads is what `status` reads, with the rights of the kubeconfig. Its buttons do what `weight`, `pause`, `resume`,
`rollback` and the verbs of `rollout` do: it says what will happen, and asks.")]
pub struct Dashboard {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE", conflicts_with = "all")]
    pub release: Option<String>,
    /// All releases that can be seen, or with `--namespace` those in it
    #[arg(short, long)]
    pub all: bool,
    /// Only show: no buttons, and every change is refused
    #[arg(long)]
    pub read_only: bool,
    /// The port of 127.0.0.1; 0 is a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
}
