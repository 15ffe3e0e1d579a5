//! `rollback --train`.

use crate::cli::Rollback;
use crate::command::rollback;
use crate::hint::{Hint, ShellCommand};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{RollbackOptions, TrainChange};

pub(in crate::command) async fn run(
    name: &str,
    arguments: &Rollback,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (cluster, train) = super::find(name, &arguments.on).await?;
    super::announce_order(name, train.releases.iter().rev().map(|release| &release.name), printer);
    let skipped = &arguments.on.checks.skipped;
    let options = RollbackOptions { now: arguments.now, drain: arguments.drain, skipped };
    let checked = Box::pin(cluster.check_train_rollback(&train, options)).await?;
    for (release, rollback) in checked.changes() {
        for line in rollback::impact(&cluster, release, rollback).await {
            printer.message(&format!("{release}: {line}"));
        }
        if let Some(hint) = rollback.scaled_down().and_then(Hint::hint) {
            printer.hint(&hint);
        }
    }
    if let Some(by) = arguments.writes.dry_run {
        super::announce_left(checked.left(), printer);
        let previews = checked.changes().map(|(name, rollback)| (name.clone(), rollback.preview()));
        return super::dry_run((by, name), &cluster, previews.collect(), printer).await;
    }
    let changed = super::carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.roll_train_back(checked, waiting, told)).await
    })
    .await?;
    let late = changed.steps.iter().find_map(|step| match &step.change {
        TrainChange::Changed(changed) => Some((&step.release, changed.not_observed.as_ref()?)),
        TrainChange::Left(_) => None,
    });
    let Some((release, error)) = late else { return Ok(Outcome::Done) };
    printer.message(&format!("{release}: written, and not observed in every proxy: {error}"));
    error.hint().iter().for_each(|hint| printer.hint(hint));
    let again = ShellCommand::new("canary-ctl rollback --train").name(name, "TRAIN");
    printer.hint(&format!("{again} again goes on, once every proxy runs it"));
    Ok(Outcome::Differences)
}
