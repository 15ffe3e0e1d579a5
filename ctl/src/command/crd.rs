//! `generate crd`: `canary.yaml` as a kind of Kubernetes.

use crate::report::{self, Printer};
use crate::{Error, Outcome};
use canary_release::resource::crd;
use clap::Args;
use placed_yaml as yaml;

/// Print the definition of canary.yaml as a kind of Kubernetes, so that a release can be an object of a cluster
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl generate crd | kubectl apply --server-side -f -

The API server then checks a release by the fields of its file, and
`kubectl explain releases.canary-ctl.io` describes them.")]
pub(super) struct Crd {}

pub(super) fn run(_: Crd, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.yaml(&yaml::block(&crd()).map_err(report::Error::Yaml)?)?;
    Ok(Outcome::Done)
}
