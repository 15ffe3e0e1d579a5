//! `status`: observe, compare, report; again with `--watch`.

mod cluster;
mod local;

pub(super) use cluster::Watch;
pub(super) use local::local_problems;

use super::arguments::{ClusterAccess, Output, ReleaseArguments};
use super::named_release::{self, InvalidFile};
use super::target;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::spec::Seconds;
use clap::Args;
use serde::Serialize;
use std::time::Duration;

/// Show the desired state, what proxies run, and the observed share
#[derive(Clone, Debug, Args)]
#[command(after_help = "`canary-ctl rollout status` shows the rollout of a release.

Examples:
  canary-ctl status
  canary-ctl status shop/shop
  canary-ctl status --watch
  canary-ctl status -o json | jq -r '.problems[].id'")]
pub(super) struct Status {
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
    /// Time in which requests are counted for the observed share
    #[arg(long, value_name = "DURATION", default_value = "2s")]
    pub(super) window: Seconds,
    /// Repeat every two seconds until Ctrl-C
    #[arg(short, long)]
    pub(super) watch: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Between two reports of `--watch`.
const INTERVAL: Duration = Duration::from_secs(2);

pub(super) async fn run(arguments: &Status, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let found = named_release::find(&arguments.of, &arguments.cluster, InvalidFile::Ignored)?;
    let (name, local) = (&found.name, found.local());
    let mut connected = if local.is_some() {
        None
    } else {
        let watch = cluster::Watch::new(
            name.clone(),
            target::config_objects(found.document.as_ref())?,
            Duration::from_secs(arguments.window.get()),
        );
        Some((target::connect(&arguments.cluster).await?, watch))
    };
    loop {
        if let Some((cluster, watch)) = &mut connected {
            let report = watch.fetch(cluster).await?;
            show(&report, arguments.watch, printer)?;
        } else if let Some(document) = local {
            let report = local::fetch(arguments, name, document).await?;
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

/// Something that a person should look at, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Problem {
    /// The identifier by which scripts know it.
    id: &'static str,
    message: String,
    hint: String,
}

fn problem(id: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Problem {
    Problem { id, message: message.into(), hint: hint.into() }
}
