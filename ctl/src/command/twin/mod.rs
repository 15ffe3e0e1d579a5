//! `twin`: both versions of a chart, to deploy or to look at. `adopt` and `wait` alone need a cluster.
//!
//! ```text
//! render   both versions and the decisions     -> objects, or refusals
//! plugin   -                                   -> a plugin directory for Helm 4
//! adopt    the pods of a running Deployment    -> the version label
//! wait     the Deployments of a version        -> ready, or why not
//! ```

mod adopt;
mod plugin;
mod render;
mod wait;

use crate::report::Printer;
use crate::{Error, Outcome};
use adopt::TwinAdopt;
use clap::{Args, Subcommand};
use plugin::TwinPlugin;
use render::{TwinInspection, TwinPostRender, TwinRender};
use wait::TwinWait;

/// Run two versions of one unmodified Helm chart side by side
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  helm get manifest shop > deployed.yaml
  helm template shop ./chart --version 2.0.0 > rendered.yaml
  canary-ctl twin check --deployed deployed.yaml --rendered rendered.yaml

`docs/helm.md` has the whole way, with Helm, Argo CD and Flux.")]
pub(super) struct Twin {
    #[command(subcommand)]
    pub(super) verb: TwinVerb,
}

/// The verbs for two versions of a chart.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum TwinVerb {
    /// Print the objects to deploy: files in, one stream out
    Render(TwinRender),
    /// Read what Helm has rendered from stdin, and print the objects to deploy: for `helm --post-renderer`
    PostRender(TwinPostRender),
    /// Show what becomes of each object of the chart, and in what it differs from stable
    #[command(after_help = "Examples:
  canary-ctl twin diff --deployed deployed.yaml --rendered v2.yaml
  canary-ctl twin diff --deployed deployed.yaml --rendered v2.yaml -o json \\
    | jq '.decisions[]'

Exit codes: 0 no differences, 1 differences or refusals, 2 failed. Values of
Secrets are not shown.")]
    Diff(TwinInspection),
    /// Find everything that would be refused, before `helm upgrade`
    #[command(after_help = "Example:
  canary-ctl twin check --deployed deployed.yaml --rendered v2.yaml

Exit codes: 0 nothing refused, 1 a check refuses the chart, 2 failed.")]
    Check(TwinInspection),
    /// Write a plugin directory for Helm 4, whose post-renderers are plugins
    Plugin(TwinPlugin),
    /// Give the pods of a running Deployment the version label, without a restart
    Adopt(TwinAdopt),
    /// Wait until the pods of a version are ready, or cannot get ready
    Wait(TwinWait),
}

pub(super) async fn run(arguments: &Twin, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.verb {
        TwinVerb::Render(arguments) => render::render(arguments, printer),
        TwinVerb::PostRender(arguments) => render::post_render(arguments, printer),
        TwinVerb::Diff(arguments) => render::diff(arguments, printer),
        TwinVerb::Check(arguments) => render::check(arguments, printer),
        TwinVerb::Plugin(arguments) => plugin::run(arguments, printer),
        TwinVerb::Adopt(arguments) => adopt::run(arguments, printer).await,
        TwinVerb::Wait(arguments) => wait::run(arguments, printer).await,
    }
}
