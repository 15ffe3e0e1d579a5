//! `pause` and `resume`: read the record, write the pause, report.

use super::target::{self, ReleaseTarget};
use crate::cli::{Pause, Resume};
use crate::report::Printer;
use crate::{Error, Outcome};

pub(super) async fn pause(arguments: &Pause, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
    let skipped = &arguments.on.checks.skipped;
    let stored = cluster.pause(&name, stored, arguments.reason.clone(), skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&format!("{name}: paused at {weight}; users go on as they are"));
    printer.hint("`canary-ctl resume` ends it; `canary-ctl weight 0` is never refused");
    Ok(Outcome::Done)
}

pub(super) async fn resume(arguments: &Resume, printer: &mut Printer) -> Result<Outcome, Error> {
    let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
    let was = stored.record.paused.clone();
    let stored = cluster.resume(&name, stored, &arguments.on.checks.skipped).await?;
    let weight = stored.record.state.weight;
    printer.message(&match was {
        Some(pause) => format!("{name}: goes on at {weight}; it was paused by {pause}"),
        None => format!("{name}: is not paused"),
    });
    Ok(Outcome::Done)
}
