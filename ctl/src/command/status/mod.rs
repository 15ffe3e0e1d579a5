//! `status`: observe, compare, report; again with `--watch`.

mod cluster;
mod local;
mod problem;

pub(super) use cluster::Watch;
pub(super) use local::local_problems;

use super::target;
use crate::cli::Status;
use crate::report::Printer;
use crate::{Error, Outcome};
use std::time::Duration;

/// Between two reports of `--watch`.
const INTERVAL: Duration = Duration::from_secs(2);

pub(super) async fn run(arguments: &Status, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load(&arguments.spec, arguments.release.as_deref())?;
    let local = document.as_ref().filter(|document| target::is_local(document));
    let mut connected = if local.is_some() {
        None
    } else {
        let name = target::release(arguments.release.as_deref(), &arguments.cluster, document.as_ref())?;
        let watch = cluster::Watch::new(
            name,
            target::config_objects(document.as_ref())?,
            Duration::from_secs(arguments.window.get()),
        );
        Some((target::connect(&arguments.cluster).await?, watch))
    };
    loop {
        if let Some((cluster, watch)) = &mut connected {
            let report = watch.fetch(cluster).await?;
            show(&report, arguments.watch, printer)?;
        } else if let Some(document) = local {
            let report = local::fetch(arguments, document).await?;
            show(&report, arguments.watch, printer)?;
        }
        if !arguments.watch {
            return Ok(Outcome::Done);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

fn show(report: &impl crate::report::Report, watch: bool, printer: &mut Printer) -> Result<(), Error> {
    if watch {
        printer.clear()?;
    }
    Ok(printer.report(report)?)
}
