//! `canary-ctl twin`.

use super::{Connection, DryRun, Output, SpecFile};
use canary_release::plan::VersionLabel;
use canary_release::spec::{Label, Seconds};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use helm_twins::Check;
use std::path::PathBuf;

/// Run two versions of one unmodified Helm chart beside each other
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  helm get manifest shop > deployed.yaml
  helm template shop ./chart --version 2.0.0 > rendered.yaml
  canary-ctl twin check --deployed deployed.yaml --rendered rendered.yaml

`docs/helm.md` has the whole way, with Helm, Argo CD and Flux.")]
pub struct Twin {
    /// What to do with the two versions.
    #[command(subcommand)]
    pub verb: TwinVerb,
}

/// What can be done with two versions of a chart.
#[derive(Clone, Debug, Subcommand)]
pub enum TwinVerb {
    /// Print the objects to deploy: files in, one stream out
    Render(TwinRender),
    /// Read what Helm has rendered from stdin, and print the objects to deploy: for `helm --post-renderer`
    PostRender(TwinPostRender),
    /// Show what becomes of each object of the chart, and in what it differs from stable
    #[command(after_help = "Example:
  canary-ctl twin diff --deployed deployed.yaml --rendered v2.yaml
  canary-ctl twin diff --deployed deployed.yaml --rendered v2.yaml -o json | jq '.decisions[]'

Exit code 1 when there are differences or refusals. Values of Secrets are not shown.")]
    Diff(TwinInspection),
    /// Find everything that would be refused, before `helm upgrade`
    #[command(after_help = "Example:
  canary-ctl twin check --deployed deployed.yaml --rendered v2.yaml

Exit code 1 when a check refuses the chart.")]
    Check(TwinInspection),
    /// Write a plugin directory for Helm 4, whose post-renderers are plugins
    Plugin(TwinPlugin),
    /// Give the pods of a running Deployment the version label, without a restart
    Adopt(TwinAdopt),
    /// Wait until the pods of a version are ready, or cannot get ready
    Wait(TwinWait),
}

/// Print the objects to deploy: files in, one stream out
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl twin render --rendered v1.yaml > deployed.yaml             the first installation, of stable alone
  canary-ctl twin render --deployed deployed.yaml --rendered v2.yaml    stable and the canary of canary.yaml
  canary-ctl twin render --deployed deployed.yaml --rendered v2.yaml --finish     after the promotion

It exits with 2 and prints no object if a check refuses the chart.")]
pub struct TwinRender {
    /// The two versions.
    #[command(flatten)]
    pub charts: Charts,
    /// The decisions.
    #[command(flatten)]
    pub decisions: TwinDecisions,
}

/// Read what Helm has rendered from stdin, and print the objects to deploy: for `helm --post-renderer`
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  helm get manifest shop > deployed.yaml
  helm3 upgrade shop ./chart --post-renderer canary-ctl \\
    --post-renderer-args twin --post-renderer-args post-render --post-renderer-args --deployed=deployed.yaml
  helm4 upgrade shop ./chart --post-renderer canary-twin --post-renderer-args --deployed=deployed.yaml

Helm 4 shows nothing that a post-renderer says: `--report-file`, or `canary-ctl twin check` before.")]
pub struct TwinPostRender {
    /// What is deployed: the output of `helm get manifest`; none for the first installation
    #[arg(long, value_name = "FILE")]
    pub deployed: Option<PathBuf>,
    /// Write what becomes of each object, or why the chart is refused, to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report_file: Option<PathBuf>,
    /// The decisions.
    #[command(flatten)]
    pub decisions: TwinDecisions,
}

/// Both versions, to be looked at and not deployed.
#[derive(Clone, Debug, Args)]
pub struct TwinInspection {
    /// The two versions.
    #[command(flatten)]
    pub charts: Charts,
    /// The decisions.
    #[command(flatten)]
    pub decisions: TwinDecisions,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Write a plugin directory for Helm 4, whose post-renderers are plugins
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl twin plugin canary-twin && helm4 plugin install canary-twin
  canary-ctl twin plugin --dry-run canary-twin")]
pub struct TwinPlugin {
    /// The directory, which is made
    pub directory: PathBuf,
    /// Print the file, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Give the pods of a running Deployment the version label, without a restart
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl twin adopt shop --dry-run     what would be written for the stable version of the file
  canary-ctl twin adopt shop               write it
  canary-ctl twin adopt shop -n shop --label version=v1
  canary-ctl twin adopt shop --undo        take it back, before the first deployment that has it

The Deployment is paused, then its ReplicaSet's template, its pods and its own template get the
label, then it is resumed: its controller finds nothing to replace. Interrupted, the same call
continues, and `--undo` goes back. Exit code 1 when pods were replaced meanwhile.")]
pub struct TwinAdopt {
    /// The Deployment, in the release's namespace
    #[arg(value_parser = object_name)]
    pub deployment: String,
    /// The release: its namespace, version label and stable version.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The namespace, where no file names it
    #[arg(short, long, value_name = "NAMESPACE", requires = "label", conflicts_with = "file")]
    pub namespace: Option<Label>,
    /// The label, where no file names it
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", conflicts_with = "file")]
    pub label: Option<VersionLabel>,
    /// Take the label back
    #[arg(long)]
    pub undo: bool,
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub dry_run: Option<DryRun>,
    /// How long to wait for the controllers of Kubernetes
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Wait until the pods of a version are ready, or cannot get ready
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl twin wait                 the canary of canary.yaml; without one, stable
  canary-ctl twin wait v2 --timeout 10m
  canary-ctl twin wait -n shop --label version=v2

Every Deployment whose pods have the version label has to be complete, as for `kubectl rollout status`.
A container that no retry starts (image, configuration, crashes) ends it at once, with exit code 2, the
container's last output and the warnings about its pod.")]
pub struct TwinWait {
    /// The version; without it the canary of the file, or stable where it has none
    #[arg(value_name = "VERSION", conflicts_with = "label")]
    pub version: Option<String>,
    /// The release: its namespace, version label and versions.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The namespace, where no file names it
    #[arg(short, long, value_name = "NAMESPACE", requires = "label", conflicts_with = "file")]
    pub namespace: Option<Label>,
    /// The label, where no file names it
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", conflicts_with = "file")]
    pub label: Option<VersionLabel>,
    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub timeout: Seconds,
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
}

/// The two versions of a chart, rendered.
#[derive(Clone, Debug, Args)]
pub struct Charts {
    /// What is deployed, twins included: the output of `helm get manifest`, or of the last `twin render`; none for the first
    /// installation
    #[arg(long, value_name = "FILE")]
    pub deployed: Option<PathBuf>,
    /// The new render of the chart with the chart's own names: the output of `helm template`
    #[arg(long, value_name = "FILE")]
    pub rendered: PathBuf,
    /// A second render of the same input: Secrets and ConfigMaps in which the two differ are random, and shared
    #[arg(long, value_name = "FILE")]
    pub rendered_again: Option<PathBuf>,
}

/// What the operator has decided about a chart.
#[derive(Clone, Debug, Args)]
pub struct TwinDecisions {
    /// The release: its Service, version label and versions.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Stable is the only version: an upgrade without a canary, or the way back from one. So it is where nothing is deployed
    #[arg(long)]
    pub alone: bool,
    /// The canary is promoted: it is the only version from now on
    #[arg(long, conflicts_with = "alone")]
    pub finish: bool,
    /// The canary's replicas, or the lowest number for its autoscaler, until the promotion is finished
    #[arg(long, value_name = "N")]
    pub replicas: Option<u32>,
    /// Whether hooks and new Jobs of the chart run, with the canary's image
    #[arg(long, value_enum, value_name = "ANSWER")]
    pub hooks: Option<HooksRun>,
    /// A Secret or ConfigMap that both versions share though it differs, by the chart's name; can be repeated
    #[arg(long, value_name = "NAME")]
    pub share: Vec<String>,
    /// A Secret whose difference is meant, and not made by a random function; can be repeated
    #[arg(long, value_name = "NAME")]
    pub twin_secret: Vec<String>,
    /// Skip this check; can be repeated
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = skippable())]
    pub skipped: Vec<Check>,
}

/// Whether hooks run.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HooksRun {
    /// They run
    Run,
    /// They are left out
    Skip,
}

/// Reads the name of an object: a DNS subdomain (RFC 1123).
fn object_name(text: &str) -> Result<String, &'static str> {
    let is_made_of = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let has_ends = is_end(text.bytes().next()) && is_end(text.bytes().last());
    if text.len() <= 253 && has_ends && text.bytes().all(is_made_of) {
        return Ok(text.to_owned());
    }
    Err(
        "expected the name of a Deployment: at most 253 of `a-z 0-9 - .`, beginning and ending with a letter or digit",
    )
}

/// Reads the name of a check that can be skipped.
fn skippable() -> impl TypedValueParser<Value = Check> {
    let names = Check::ALL.into_iter().filter(|check| check.can_be_skipped());
    PossibleValuesParser::new(names.map(|check| PossibleValue::new(check.name())))
        .try_map(|name| Check::named(&name).ok_or("no such check"))
}
