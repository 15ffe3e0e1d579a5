//! A weight on a cluster: one object, and the record.

use super::report::Changed;
use crate::cli::Weigh;
use crate::cluster::{Asked, Cluster, StoredRecord};
use crate::command::{situation, target};
use crate::report::Printer;
use crate::spec::{Document, ReleaseName};
use crate::{Error, Outcome};
use assignment::contract::{Role, Until};

pub(super) async fn run(
    arguments: &Weigh,
    document: &Document,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let name = target::release(arguments.release.as_deref(), &arguments.cluster, document)?;
    let cluster = target::connect(&arguments.cluster, false).await?;
    let stored = cluster.get_record(&name).await?;
    let before = stored.record.standing.clone();
    let asked = judged(arguments, &name, &stored, &cluster).await?;
    if arguments.dry_run {
        let mut record = stored.record;
        record.set_weight(asked.weight, asked.until, "", asked.why);
        printer.report(&Changed::between(&name.to_string(), &before, &record.standing)?)?;
        return Ok(Outcome::Done);
    }
    let weighed = cluster.set_weight(&name, stored, asked).await?;
    let record = &weighed.stored.record;
    let mut report = Changed::between(&name.to_string(), &before, &record.standing)?;
    report.written = true;
    let arrival = if arguments.wait {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.timeout, &mut progress);
        Some(cluster.wait(&name.to_string(), record, &mut waiting).await?)
    } else {
        None
    };
    if let Some(arrival) = &arrival {
        report.arrived(report.generation, arrival.waited);
    }
    printer.report(&report)?;
    if arrival.is_some_and(|arrival| arrival.proxies.is_empty()) {
        printer.message("no proxy serves it yet; those that come begin with this weight");
    }
    Ok(Outcome::Done)
}

/// What is asked for, once it was judged.
async fn judged(
    arguments: &Weigh,
    name: &ReleaseName,
    stored: &StoredRecord,
    cluster: &Cluster,
) -> Result<Asked, Error> {
    let record = &stored.record;
    let found = record.standing.generation;
    if let Some(expected) = arguments.expect_generation.filter(|expected| *expected != found) {
        let (release, last) = (name.to_string(), record.last());
        return Err(crate::cluster::Error::Generation { release, expected, found, last }.into());
    }
    let now = situation::now();
    let from = record.standing.weight_at(now);
    let weight = arguments.target.from(from);
    if record.standing.version_of(Role::Canary).is_none() {
        let hint = "name one in `versions.canary`, and `canary-ctl apply`";
        return Err(Error::usage(format!("`{name}` has no canary to give users to"), hint));
    }
    cluster.check_weight(name, record, weight, &arguments.checks.skipped).await?;
    let until = arguments
        .expires_in
        .map(|life| Until { at_seconds: now.saturating_add(life.get()), action: record.until_action });
    Ok(Asked { weight, until, why: "weight" })
}
