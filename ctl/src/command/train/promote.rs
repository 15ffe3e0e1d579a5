//! `promote --train`.

use crate::cli::Promote;
use crate::command::promote;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{PromoteOptions, TrainChange};

pub(in crate::command) async fn run(
    name: &str,
    arguments: &Promote,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (cluster, train) = super::find(name, &arguments.on).await?;
    super::announce_order(name, train.releases.iter().map(|release| &release.name), printer);
    let options = PromoteOptions { drain: arguments.drain, skipped: &arguments.on.checks.skipped };
    let checked = Box::pin(cluster.check_train_promotion(&train, options)).await?;
    for (release, promotion) in checked.changes() {
        printer.message(&format!("{release}: {}", promote::impact(promotion)));
    }
    if let Some(by) = arguments.writes.dry_run {
        super::announce_left(checked.left(), printer);
        let previews = checked.changes().map(|(name, promotion)| (name.clone(), promotion.preview()));
        return super::dry_run((by, name), &cluster, previews.collect(), printer).await;
    }
    let changed = super::carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.promote_train(checked, waiting, told)).await
    })
    .await?;
    for step in &changed.steps {
        if let TrainChange::Changed(changed) = &step.change {
            promote::afterwards(Some(&step.release), &changed.stored.record, printer);
        }
    }
    Ok(Outcome::Done)
}
