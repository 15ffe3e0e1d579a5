//! A weight on a cluster: one object, and the record.

use super::Weigh;
use super::report::Changed;
use crate::command::arguments::DryRun;
use crate::command::emergency::Emergency;
use crate::command::inner_release::{self, InnerChange};
use crate::command::named_release::NamedRelease;
use crate::command::{release_context, target};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_operations::{Arrival, WeightRequest};
use canary_release::record::Record;

pub(super) async fn run(
    arguments: &Weigh,
    NamedRelease { name, document }: &NamedRelease,
    emergency: &Emergency<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let cluster =
        target::connect_as(&arguments.cluster, target::write_options(&arguments.checks.skipped)).await?;
    let stored = target::get_record(&cluster, name, document.as_ref()).await?;
    emergency.learn(&stored.record);
    target::report_record(&stored, printer);
    inner_release::report_of(&cluster, name, &stored, InnerChange::Weight, printer).await;
    let before = stored.record.state.clone();
    let request = WeightRequest {
        weight: arguments.target.from(before.weight_at(release_context::now())),
        expires_in: arguments.expires_in,
        expected_generation: arguments.expect_generation,
        skipped: &arguments.checks.skipped,
    };
    let checked = cluster.check_weight(name, stored, request).await?;
    let scaled_down = checked.scaled_down().cloned();
    target::report_pods(scaled_down.as_ref(), printer);
    target::report_pods(checked.undersized(), printer);
    if arguments.wait {
        cluster.check_proxies_seen(name, checked.record()).await?;
    }
    if let Some(by) = arguments.dry_run.by {
        if by == DryRun::Server {
            cluster.dry_run_update(name, &checked.stored_preview()).await?;
        }
        let report = Changed::between(&name.to_string(), &before, &checked.preview().state)?;
        printer.report(&report.with_scaled_down(scaled_down))?;
        return Ok(Outcome::Done);
    }
    let update = cluster.set_weight(checked).await?;
    let record = &update.stored.record;
    let mut report =
        Changed::between(&name.to_string(), &before, &record.state)?.with_scaled_down(scaled_down);
    report.written = true;
    let mut arrival = None;
    if arguments.wait {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.timeout, &mut progress);
        let arrived = cluster.wait(name, record, &mut waiting).await?;
        report.arrived(report.generation, arrived.waited);
        report.not_observed.clone_from(&arrived.not_observed);
        arrival = Some(arrived);
    }
    printer.report(&report)?;
    target::report_record(&update.stored, printer);
    report_rollout(record, printer);
    report_arrival(arrival.as_ref(), printer);
    Ok(Outcome::Done)
}

/// Prints the proxies that are not known to run the weight, and that there are none.
fn report_arrival(arrival: Option<&Arrival>, printer: &mut Printer) {
    target::report_unseen(arrival, printer);
    if arrival.is_some_and(|arrival| arrival.proxies.is_empty() && arrival.not_observed.is_empty()) {
        printer.message("no proxy serves the release yet; proxies that start later have this weight");
    }
}

/// Prints what a weight that is set by hand means for a rollout that goes on.
fn report_rollout(record: &Record, printer: &mut Printer) {
    if let Some(rollout) = record.rollout.as_ref().filter(|rollout| rollout.is_active()) {
        printer.message(&format!("rollout: {rollout}"));
        printer.hint(if rollout.ending.is_some() {
            "`canary-ctl rollout run` carries it out, and so does `canary-ctl rollback`"
        } else {
            "`canary-ctl rollout resume` gives the weight back to it; `rollout abort` ends it"
        });
    }
}
