//! `promote --finish --train`.

use crate::cli::Promote;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::preflight::PreflightCheck;

pub(in crate::command) async fn run(
    name: &str,
    arguments: &Promote,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (cluster, train) = super::find(name, &arguments.on).await?;
    super::announce_order(name, train.releases.iter().rev().map(|release| &release.name), printer);
    let skipped: &[PreflightCheck] = match arguments.writes.dry_run {
        Some(_) => &PreflightCheck::ALL,
        None => &arguments.on.checks.skipped,
    };
    let checked = cluster.check_train_finish(&train, skipped).await?;
    if let Some(by) = arguments.writes.dry_run {
        for (release, finish) in checked.changes() {
            finish.early().iter().for_each(|message| printer.message(&format!("{release}: {message}")));
        }
        let previews = checked.changes().map(|(name, finish)| (name.clone(), finish.preview()));
        return super::dry_run((by, name), &cluster, previews.collect(), printer).await;
    }
    super::carry_out((name, arguments.writes.timeout), printer, async |waiting, told| {
        Box::pin(cluster.finish_train(checked, waiting, told)).await
    })
    .await?;
    Ok(Outcome::Done)
}
