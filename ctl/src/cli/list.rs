//! `canary-ctl list`.

use super::{Connection, Output};
use clap::Args;

/// List the releases of a cluster
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl list                  in all namespaces in which ConfigMaps may be listed
  canary-ctl list -n shop -n blog
  canary-ctl list -o json | jq -r '.releases[] | select(.effective > 0).release'

What it lists is what the records say. `canary-ctl status -r NAMESPACE/NAME` observes one release, with its problems.")]
pub struct List {
    /// A namespace; can be repeated (default: all)
    #[arg(short, long = "namespace", value_name = "NAMESPACE")]
    pub namespaces: Vec<String>,
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
