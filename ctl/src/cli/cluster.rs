//! Which cluster, as `kubectl` is told.

use canary_operations::Access;
use canary_release::spec::{Label, PrometheusServer, Seconds, SecretSource, ServerAddress};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// How the API server is reached.
#[derive(Clone, Debug, Args)]
pub struct Connection {
    /// The kubeconfig (default: as kubectl finds it, else the pod's service account)
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in it (default: its current one)
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,
    /// An API call that is silent for so long has failed
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub request_timeout: Seconds,
}

/// Which cluster, and which namespace.
#[derive(Clone, Debug, Args)]
pub struct ClusterAccess {
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
    /// The namespace of `--release` (default: that of the file)
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<Label>,
    /// A Prometheus that scrapes the proxies, for clusters in which neither the API server nor the
    /// kubelet reaches them
    #[arg(long, value_name = "URL", env = "CANARY_CTL_PROMETHEUS")]
    pub prometheus: Option<ServerAddress>,
    /// A file with the bearer token that it asks for
    #[arg(long, value_name = "FILE", env = "CANARY_CTL_PROMETHEUS_TOKEN_FILE", requires = "prometheus")]
    pub prometheus_token_file: Option<PathBuf>,
}

impl ClusterAccess {
    /// The same as data, without the namespace.
    pub fn access(&self) -> Access {
        self.connection.access()
    }

    /// The Prometheus that is asked for proxies which nothing reaches.
    pub fn prometheus(&self) -> Option<PrometheusServer> {
        let bearer_token_from = self.prometheus_token_file.clone().map(SecretSource::File);
        Some(PrometheusServer { address: self.prometheus.clone()?, bearer_token_from })
    }
}

impl Connection {
    /// The same as data.
    pub fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
            request_timeout: Some(Duration::from_secs(self.request_timeout.get())),
        }
    }
}
