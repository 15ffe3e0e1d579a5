//! Arguments that several verbs share: the release, the cluster, the checks, the form of the result.

use crate::Error;
use crate::report::{Format, Printer};
use canary_operations::{Access, ApiRequestDone, Impersonated, Silence};
use canary_release::format::seconds;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::{Label, PrometheusServer, Seconds, SecretSource, ServerAddress};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The group of flags that many verbs have, below those of the verb.
const SHARED: &str = "Shared options";

/// The file of a release.
#[derive(Clone, Debug, Args)]
pub(super) struct SpecFile {
    /// File or `-`
    #[arg(short, long, value_name = "FILE", default_value = SpecFile::DEFAULT, help_heading = SHARED)]
    pub(super) file: PathBuf,
}

impl SpecFile {
    /// The file where none is named.
    pub(super) const DEFAULT: &str = "canary.yaml";
}

/// The form of the result.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Output {
    /// text, json or yaml
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        help_heading = SHARED
    )]
    pub(super) format: Format,
}

/// Which release: that of the file, or another by its name.
#[derive(Clone, Debug, Args)]
pub(super) struct ReleaseArguments {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// Release as [NAMESPACE/]NAME; it needs no file
    #[arg(value_name = "RELEASE", conflicts_with = "release", help_heading = None::<&str>)]
    named: Option<String>,
    /// As the argument RELEASE
    #[arg(short, long, value_name = "RELEASE", help_heading = SHARED)]
    release: Option<String>,
}

impl ReleaseArguments {
    /// The name, where one is given.
    pub(super) fn asked(&self) -> Option<&str> {
        self.named.as_deref().or(self.release.as_deref())
    }
}

/// The connection to the API server.
#[derive(Clone, Debug, Args)]
pub(super) struct Connection {
    /// Kubeconfig [default: as kubectl]
    #[arg(long, value_name = "FILE", help_heading = SHARED)]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME", help_heading = SHARED)]
    pub(super) context: Option<String>,
    /// API request timeout
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = SHARED)]
    pub(super) request_timeout: Seconds,
    /// Print API requests and written fields
    #[arg(short, long, help_heading = SHARED)]
    pub(super) verbose: bool,
    /// Impersonate this user
    #[arg(long = "as", value_name = "USER", help_heading = SHARED)]
    impersonated_user: Option<String>,
    /// Impersonate this group; repeatable
    #[arg(long = "as-group", value_name = "GROUP", requires = "impersonated_user", help_heading = SHARED)]
    impersonated_groups: Vec<String>,
    /// The silence of the API server, shared by all requests of a call.
    #[arg(skip)]
    pub(super) silence: Silence,
}

/// Which cluster, and which namespace.
#[derive(Clone, Debug, Args)]
pub(super) struct ClusterAccess {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// Namespace of the release
    #[arg(short, long, value_name = "NAME", help_heading = SHARED)]
    pub(super) namespace: Option<Label>,
    /// Prometheus that scrapes the proxies
    #[arg(long, value_name = "URL", env = "CANARY_CTL_PROMETHEUS", hide_env = true, help_heading = SHARED)]
    pub(super) prometheus: Option<ServerAddress>,
    /// Bearer token for it
    #[arg(
        long,
        value_name = "FILE",
        env = "CANARY_CTL_PROMETHEUS_TOKEN_FILE",
        hide_env = true,
        requires = "prometheus",
        help_heading = SHARED
    )]
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
            on_silence: Some(report_silence),
            on_request: self.verbose.then_some(report_request),
            silence: self.silence.clone(),
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

/// Prints that the API server is silent.
pub(in crate::command) fn report_silence(address: &str, duration: Duration) {
    Printer::of_process().message(&if duration < Duration::from_secs(2) {
        format!("waiting for {address}; `--request-timeout` limits each attempt, and Ctrl-C ends it")
    } else {
        format!("waiting for {address} for {}", seconds(duration))
    });
}

/// Prints a request to the API server.
fn report_request(request: &ApiRequestDone<'_>) {
    let ApiRequestDone { method, path, status, duration } = request;
    let status = status.map_or_else(|| "no response".to_owned(), |status| status.to_string());
    Printer::of_process().message(&format!("{method} {path} {status} {} ms", duration.as_millis()));
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
    /// Skip a preflight check; repeatable (`canary-ctl help checks` lists them)
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = check(), hide_possible_values = true, help_heading = None::<&str>)]
    pub(super) skipped: Vec<PreflightCheck>,
}

/// Reads the name of a check. Help lists them with their meaning.
fn check() -> impl TypedValueParser<Value = PreflightCheck> {
    let names = PreflightCheck::ALL.map(|check| PossibleValue::new(check.name()).help(check.meaning()));
    PossibleValuesParser::new(names).try_map(|name| {
        PreflightCheck::ALL.into_iter().find(|check| check.name() == name).ok_or("no such preflight check")
    })
}

/// Whether to write.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct DryRunArgument {
    /// Print what would be written; `server` lets the API server validate it
    #[arg(long = "dry-run", value_name = "WHERE", value_enum, hide_possible_values = true, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(super) by: Option<DryRun>,
}

impl DryRunArgument {
    /// Refuses `server` for a local Envoy, which has no API server.
    pub(super) fn locally(self) -> Result<bool, Error> {
        match self.by {
            Some(DryRun::Server) => Err(Error::usage(
                "expected `--dry-run=client`, found `--dry-run=server`: a local Envoy has no API server",
                "`--dry-run` computes it on this machine",
            )),
            by => Ok(by.is_some()),
        }
    }
}

/// Whether to write, and how long to wait.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Writes {
    /// Print what would be written; `server` lets the API server validate it
    #[arg(long, value_name = "WHERE", value_enum, hide_possible_values = true, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(super) dry_run: Option<DryRun>,
    /// How long to wait for proxies
    #[arg(long, value_name = "TIME", default_value = "60s")]
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

/// The part of a write that is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DryRun {
    /// Compute it locally.
    Client,
    /// Let the API server validate it too.
    Server,
}

/// The signing keys.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Keys {
    /// The signing keys of the proxies, as JSON (default: those of the local target)
    #[arg(long = "signing-keys", value_name = "FILE")]
    pub(super) keys: Option<PathBuf>,
}
