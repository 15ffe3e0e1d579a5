//! `twin wait`: read the label, wait, say what is waited for.

use crate::cli::TwinWait;
use crate::command::target;
use crate::module;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{Cluster, ReadinessOptions, WriteOptions};
use canary_release::format::{counted, seconds};
use canary_release::plan::VersionLabel;
use canary_release::status::VersionReadiness;
use std::time::Duration;

pub(super) async fn run(arguments: &TwinWait, printer: &mut Printer) -> Result<Outcome, Error> {
    let (namespace, label) = asked(arguments)?;
    let cluster = Cluster::connect(&arguments.connection.access(), WriteOptions::default()).await?;
    let ready = {
        let mut progress = |readiness: &VersionReadiness| print(&label, readiness, printer);
        let timeout = Duration::from_secs(arguments.timeout.get());
        let options = ReadinessOptions { timeout, progress: &mut progress };
        cluster.wait_for_version(&namespace, &label, options).await?
    };
    let pods = counted(ready.pods, "pod", "pods");
    printer.message(&format!("{pods} with {label} ready after {}", seconds(ready.waited)));
    Ok(Outcome::Done)
}

/// Namespace and label: of the command line, else of the file.
fn asked(arguments: &TwinWait) -> Result<(String, VersionLabel), Error> {
    if let (Some(namespace), Some(label)) = (&arguments.namespace, &arguments.label) {
        return Ok((namespace.to_string(), label.clone()));
    }
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let versions = &document.release.versions;
    let version = arguments.version.as_ref().or(versions.canary.as_ref()).unwrap_or(&versions.stable);
    let label = VersionLabel::new(&versions.label, version)
        .map_err(|error| Error::usage(error.to_string(), "give the value of a label"))?;
    Ok((document.release.name.namespace.to_string(), label))
}

fn print(label: &VersionLabel, readiness: &VersionReadiness, printer: &mut Printer) {
    let VersionReadiness::Waiting { ready, wanted, reasons } = readiness else { return };
    printer.message(&format!("{ready} of {wanted} pods with {label} are ready"));
    for reason in reasons {
        printer.message(&format!("  {reason}"));
    }
}
