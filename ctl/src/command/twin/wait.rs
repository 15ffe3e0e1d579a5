//! `twin wait`: read the label, wait, say what is waited for.

use crate::command::arguments::{Connection, SpecFile};
use crate::command::target;
use crate::report::Printer;
use crate::{Error, Outcome, module};
use canary_operations::{Cluster, ReadinessOptions, WriteOptions};
use canary_release::format::{counted, seconds};
use canary_release::plan::VersionLabel;
use canary_release::spec::{Label, Seconds};
use canary_release::status::VersionReadiness;
use clap::Args;
use std::time::Duration;

/// Wait until the pods of a version are ready, or cannot get ready
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl twin wait                 the canary of canary.yaml, else stable
  canary-ctl twin wait v2 --timeout 10m
  canary-ctl twin wait -n shop --label version=v2

Every Deployment, StatefulSet and DaemonSet whose pods have the version label
and are behind the release's Service has to be complete, as for `kubectl rollout
status`. Every such pod of another owner has to be ready. A container that no
retry starts (image, configuration, crashes) ends it at once, with exit code 2,
the container's last output and the warnings about its pod.")]
pub(in crate::command) struct TwinWait {
    /// The version; without it the canary of the file, or stable where it has none
    #[arg(value_name = "VERSION", conflicts_with = "label")]
    pub(in crate::command) version: Option<String>,
    /// The release: its namespace, version label and versions.
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// The namespace, where no file names it
    #[arg(short, long, value_name = "NAMESPACE", requires = "label", conflicts_with = "file")]
    pub(in crate::command) namespace: Option<Label>,
    /// The label, where no file names it
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", conflicts_with = "file")]
    pub(in crate::command) label: Option<VersionLabel>,
    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub(in crate::command) timeout: Seconds,
    #[command(flatten)]
    pub(in crate::command) connection: Connection,
}

pub(super) async fn run(arguments: &TwinWait, printer: &mut Printer) -> Result<Outcome, Error> {
    let WaitTarget { namespace, label, service } = asked(arguments)?;
    let cluster = Cluster::connect(&arguments.connection.access(), WriteOptions::default()).await?;
    let ready = {
        let mut progress = |readiness: &VersionReadiness| print(&label, readiness, printer);
        let timeout = Duration::from_secs(arguments.timeout.get());
        let options = ReadinessOptions { timeout, service: service.as_deref(), progress: &mut progress };
        cluster.wait_for_version(&namespace, &label, options).await?
    };
    let pods = counted(ready.pods, "pod", "pods");
    printer.message(&format!("{pods} with {label} ready after {}", seconds(ready.waited)));
    Ok(Outcome::Done)
}

/// The pods of the version.
struct WaitTarget {
    namespace: String,
    label: VersionLabel,
    /// None where no file names it: then all pods of the namespace with the label count.
    service: Option<String>,
}

/// Namespace, label and Service: of the command line, else of the file.
fn asked(arguments: &TwinWait) -> Result<WaitTarget, Error> {
    if let (Some(namespace), Some(label)) = (&arguments.namespace, &arguments.label) {
        return Ok(WaitTarget { namespace: namespace.to_string(), label: label.clone(), service: None });
    }
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let versions = &document.release.versions;
    let version = arguments.version.as_ref().or(versions.canary.as_ref()).unwrap_or(&versions.stable);
    let label = VersionLabel::new(&versions.label, version)
        .map_err(|error| Error::usage(error.to_string(), "give the value of a label"))?;
    let service = Some(document.release.service.name.to_string());
    Ok(WaitTarget { namespace: document.release.name.namespace.to_string(), label, service })
}

fn print(label: &VersionLabel, readiness: &VersionReadiness, printer: &mut Printer) {
    let VersionReadiness::Waiting { ready, wanted, reasons } = readiness else { return };
    printer.message(&format!("{ready} of {wanted} pods with {label} are ready"));
    for reason in reasons {
        printer.message(&format!("  {reason}"));
    }
}
