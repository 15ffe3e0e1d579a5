//! Which cluster, as `kubectl` is told.

use crate::cluster::Access;
use crate::spec::Label;
use clap::Args;
use std::path::PathBuf;

/// Which cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterAccess {
    /// The kubeconfig (default: as kubectl finds it, else the pod's service account)
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in it (default: its current one)
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,
    /// The namespace of `--release` (default: that of the file)
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<Label>,
}

impl ClusterAccess {
    /// The same as data.
    pub fn access(&self) -> Access {
        Access { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() }
    }
}
