//! Arguments that several verbs share: the release, the cluster, the checks, the form of the result.

use crate::report::Format;
use canary_operations::Access;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::{Label, PrometheusServer, Seconds, SecretSource, ServerAddress};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Where the release is described.
#[derive(Clone, Debug, Args)]
pub(super) struct SpecFile {
    /// The file that describes the release
    #[arg(short, long, value_name = "FILE", default_value = SpecFile::DEFAULT)]
    pub(super) file: PathBuf,
}

impl SpecFile {
    /// The file where none is named.
    pub(super) const DEFAULT: &str = "canary.yaml";
}

/// The form of the result.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Output {
    /// The form of the result
    #[arg(short = 'o', long = "output", value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) format: Format,
}

/// How the API server is reached.
#[derive(Clone, Debug, Args)]
pub(super) struct Connection {
    /// The kubeconfig (default: as kubectl finds it, else the pod's service account)
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context in it (default: its current one)
    #[arg(long, value_name = "CONTEXT")]
    pub(super) context: Option<String>,
    /// An API call that is silent for so long has failed
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub(super) request_timeout: Seconds,
}

/// Which cluster, and which namespace.
#[derive(Clone, Debug, Args)]
pub(super) struct ClusterAccess {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// The namespace of `--release` (default: that of the file)
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<Label>,
    /// A Prometheus that scrapes the proxies, for clusters in which neither the API server nor the
    /// kubelet reaches them
    #[arg(long, value_name = "URL", env = "CANARY_CTL_PROMETHEUS")]
    pub(super) prometheus: Option<ServerAddress>,
    /// A file with the bearer token that it asks for
    #[arg(long, value_name = "FILE", env = "CANARY_CTL_PROMETHEUS_TOKEN_FILE", requires = "prometheus")]
    pub(super) prometheus_token_file: Option<PathBuf>,
}

impl ClusterAccess {
    /// The same as data, without the namespace.
    pub(super) fn access(&self) -> Access {
        self.connection.access()
    }

    /// The Prometheus that is asked for proxies which nothing reaches.
    pub(super) fn prometheus(&self) -> Option<PrometheusServer> {
        let bearer_token_from = self.prometheus_token_file.clone().map(SecretSource::File);
        Some(PrometheusServer { address: self.prometheus.clone()?, bearer_token_from })
    }
}

impl Connection {
    /// The same as data.
    pub(super) fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
            request_timeout: Some(Duration::from_secs(self.request_timeout.get())),
        }
    }
}

/// Which release, where, and which checks are skipped.
#[derive(Clone, Debug, Args)]
pub(super) struct OnCluster {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub(super) release: Option<String>,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
}

/// Which preflight checks are skipped.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct SkipChecks {
    /// Skip this preflight check; can be repeated
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = check())]
    pub(super) skipped: Vec<PreflightCheck>,
}

/// Reads the name of a check. Help lists them with their meaning.
fn check() -> impl TypedValueParser<Value = PreflightCheck> {
    let names = PreflightCheck::ALL.map(|check| PossibleValue::new(check.name()).help(check.meaning()));
    PossibleValuesParser::new(names).try_map(|name| {
        PreflightCheck::ALL.into_iter().find(|check| check.name() == name).ok_or("no such preflight check")
    })
}

/// Whether to write, and how long to wait.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Writes {
    /// Print what would be written, and write nothing
    #[arg(long, value_name = "WHERE", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(super) dry_run: Option<DryRun>,
    /// How long to wait for proxies, where the order of writes needs it and at the end
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(super) timeout: Seconds,
}

/// How much of a write is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DryRun {
    /// Compute it locally.
    Client,
    /// Let the API server validate it too.
    Server,
}

/// Where the keys are.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Keys {
    /// The signing keys of the proxies, as JSON (default: those of the local target)
    #[arg(long = "signing-keys", value_name = "FILE")]
    pub(super) keys: Option<PathBuf>,
}
