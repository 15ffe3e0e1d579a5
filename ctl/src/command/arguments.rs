//! Arguments that several verbs share: the release, the cluster, the checks, the form of the result.

use crate::report::{Format, Printer};
use canary_operations::{Access, Impersonated};
use canary_release::preflight::PreflightCheck;
use canary_release::spec::{Label, PrometheusServer, Seconds, SecretSource, ServerAddress};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Where the release is described.
#[derive(Clone, Debug, Args)]
pub(super) struct SpecFile {
    /// The file that describes the release; `-` is stdin
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

/// Which release: that of the file, or another by its name.
#[derive(Clone, Debug, Args)]
pub(super) struct ReleaseArguments {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// A release by its name, as NAMESPACE/NAME or NAME; it needs no file
    #[arg(value_name = "RELEASE", conflicts_with = "release")]
    named: Option<String>,
    /// The same
    #[arg(short, long, value_name = "RELEASE")]
    release: Option<String>,
}

impl ReleaseArguments {
    /// The name, where one is given.
    pub(super) fn asked(&self) -> Option<&str> {
        self.named.as_deref().or(self.release.as_deref())
    }
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
    /// Act as this user, whom the API server lets you impersonate
    #[arg(long = "as", value_name = "USER")]
    impersonated_user: Option<String>,
    /// With `--as`: act as a member of this group; can be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "impersonated_user")]
    impersonated_groups: Vec<String>,
}

/// Which cluster, and which namespace.
#[derive(Clone, Debug, Args)]
pub(super) struct ClusterAccess {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// The namespace of the release that is named (default: that of the file)
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
            impersonated: self
                .impersonated_user
                .clone()
                .map(|user| Impersonated { user, groups: self.impersonated_groups.clone() }),
            on_slow: Some(report_slow),
        }
    }

    /// The first flag that names a cluster, for a call that asks none.
    pub(super) fn flag_of_cluster(&self) -> Option<&'static str> {
        let given = [
            (self.kubeconfig.is_some(), "--kubeconfig"),
            (self.context.is_some(), "--context"),
            (self.impersonated_user.is_some(), "--as"),
        ];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}

/// Says what a person waits for.
pub(in crate::command) fn report_slow(address: &str) {
    Printer::of_process().message(&format!(
        "waiting for {address}, which has not answered yet; `--request-timeout` limits each attempt, and Ctrl-C ends it"
    ));
}

/// Which release, where, and which checks are skipped.
#[derive(Clone, Debug, Args)]
pub(super) struct OnCluster {
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
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

/// `--wait`, for verbs that wait without it.
pub(super) fn waits_always() -> Arg {
    Arg::new("wait").long("wait").action(ArgAction::SetTrue).hide(true)
}

/// Reads `--dry-run` of a command that computes it locally.
pub(super) fn only_client(text: &str) -> Result<bool, String> {
    match text {
        "client" => Ok(true),
        "none" => Ok(false),
        other => {
            Err(format!("expected `client`, found `{other}`: the command computes it without the API server"))
        }
    }
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
