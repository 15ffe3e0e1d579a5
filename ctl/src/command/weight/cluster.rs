//! A weight on a cluster: one object, and the record.

use super::report::Changed;
use crate::cli::Weigh;
use crate::command::{release_context, target};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::WeightRequest;
use canary_release::spec::Document;

pub(super) async fn run(
    arguments: &Weigh,
    document: &Document,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let name = target::release(arguments.release.as_deref(), &arguments.cluster, document)?;
    let cluster = target::connect(&arguments.cluster, false).await?;
    let stored = target::get_record(&cluster, &name, document).await?;
    let before = stored.record.state.clone();
    let request = WeightRequest {
        weight: arguments.target.from(before.weight_at(release_context::now())),
        expires_in: arguments.expires_in,
        expected_generation: arguments.expect_generation,
        skipped: &arguments.checks.skipped,
    };
    let checked = cluster.check_weight(&name, stored, request).await?;
    if arguments.dry_run {
        printer.report(&Changed::between(&name.to_string(), &before, &checked.preview().state)?)?;
        return Ok(Outcome::Done);
    }
    if arguments.wait {
        // Without the right to read the proxies' metrics nothing could be waited for: that is said before the first write.
        cluster.proxies(&name.to_string(), checked.record()).await?;
    }
    let update = cluster.set_weight(checked).await?;
    let record = &update.stored.record;
    let mut report = Changed::between(&name.to_string(), &before, &record.state)?;
    report.written = true;
    let arrival = if arguments.wait {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.timeout, &mut progress);
        Some(cluster.wait(&name, record, &mut waiting).await?)
    } else {
        None
    };
    if let Some(arrival) = &arrival {
        report.arrived(report.generation, arrival.waited);
    }
    printer.report(&report)?;
    if let Some(rollout) = record.rollout.as_ref().filter(|rollout| rollout.is_active()) {
        printer.message(&format!("rollout: {rollout}"));
        printer.hint("`canary-ctl rollout resume` gives the weight back to it; `rollout abort` ends it");
    }
    if arrival.is_some_and(|arrival| arrival.proxies.is_empty()) {
        printer.message("no proxy serves it yet; those that come begin with this weight");
    }
    Ok(Outcome::Done)
}
