//! `canary-ctl generate`.

use super::{AdmissionPolicy, Rbac};
use assignment::Weight;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Print the Kubernetes objects of a release, or write the files of a local Envoy
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  canary-ctl generate --signing-keys signing-keys.json | kubectl apply --server-side -f -
  canary-ctl generate -f shop.yaml -f api.yaml --signing-keys signing-keys.json     two releases of one gateway
  canary-ctl generate -f examples/local/canary.yaml --dry-run       a local Envoy's files, not written
  canary-ctl generate routes                                        the routes alone, for the chart that owns them
  canary-ctl generate rbac --user alice | kubectl apply -f -                 who may steer it"
)]
pub struct Generate {
    /// Something else than the objects of the release.
    #[command(subcommand)]
    pub instead: Option<Instead>,
    /// The file that describes the release; several share what they have in common (of one local Envoy: module,
    /// addresses, cookies, debug header)
    #[arg(short, long = "file", value_name = "FILE", default_value = "canary.yaml")]
    pub files: Vec<PathBuf>,
    /// The keys that sign and verify, as `init` draws them (not for the local target, which has its own)
    #[arg(long = "signing-keys", value_name = "FILE", env = "CANARY_CTL_SIGNING_KEYS")]
    pub keys: Option<PathBuf>,
    /// The canary's share in percent, instead of the file's
    #[arg(long, value_name = "PERCENT")]
    pub weight: Option<Weight>,
    /// The generation that the proxies report back (not for the local target, which counts by itself)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub generation: u64,
    /// Print what would be written, keys redacted, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What else can be printed of a release.
#[derive(Clone, Debug, Subcommand)]
pub enum Instead {
    /// Print the routes alone, for a chart or a repository that owns them; needs no signing keys
    Routes(RouteFiles),
    /// Print the rights that steering a release needs, as roles and their bindings
    Rbac(Rbac),
    /// Print a policy for the API server that refuses a Helm upgrade without the post-renderer
    AdmissionPolicy(AdmissionPolicy),
}

/// Print the routes alone, for a chart or a repository that owns them; needs no signing keys
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl generate routes                                        for a route object of yours
  canary-ctl generate routes --gateway-api | kubectl apply -f -     HTTPRoutes
  canary-ctl generate routes --gateway-api --port 9000              of a Service that has port 9000 too")]
pub struct RouteFiles {
    /// Print routes of the Gateway API: each version needs a Service of its own, since they know no subsets
    #[arg(long)]
    pub gateway_api: bool,
    /// Another port of the Service that is called inside the mesh (may be repeated): a route of the Gateway API is for one port
    #[arg(long = "port", value_name = "PORT", requires = "gateway_api", value_parser = clap::value_parser!(u16).range(1..))]
    pub ports: Vec<u16>,
    /// The file that describes the release (may be repeated)
    #[arg(short, long = "file", value_name = "FILE", default_value = "canary.yaml")]
    pub files: Vec<PathBuf>,
}
