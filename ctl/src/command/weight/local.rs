//! A weight for a local Envoy: its files.

use super::report::Changed;
use super::{Weigh, WeightTarget};
use crate::local::{Applied, Entry, Environment, Lock, Stats, wait_for_generation};
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::Role;
use canary_release::file::Document;
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck, check_step};
use canary_release::record::{Expiry, Operation};
use canary_release::spec::ReleaseName;
use std::time::Duration;

/// A weight of a release of a local Envoy.
#[derive(Clone, Copy)]
pub(in crate::command) struct LocalWeight<'a> {
    pub(in crate::command) release: &'a str,
    pub(in crate::command) target: WeightTarget,
    pub(in crate::command) expires_in: Option<Expiry>,
    pub(in crate::command) expected_generation: Option<u64>,
    pub(in crate::command) skipped: &'a [PreflightCheck],
}

pub(super) async fn run(
    arguments: &Weigh,
    name: &ReleaseName,
    document: &Document,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let environment = Environment::of(&document.release)?;
    crate::command::target::without_cluster(document, &arguments.cluster)?;
    let name = name.to_string();
    // With `--wait`, a missing Envoy has to be an error before the write.
    let dry_run = arguments.dry_run.locally()?;
    if arguments.wait
        && !dry_run
        && let Err(error) = environment.admin().stats().await
    {
        printer.message("nothing was written: `--wait` needs a running Envoy");
        return Err(error.into());
    }
    let request = LocalWeight {
        release: &name,
        target: arguments.target,
        expires_in: arguments.expires_in,
        expected_generation: arguments.expect_generation,
        skipped: &arguments.checks.skipped,
    };
    let (mut report, applied) = set(&environment, request, dry_run).await?;
    let Some(applied) = applied else {
        printer.report(&report)?;
        return Ok(Outcome::Done);
    };
    if arguments.wait {
        let timeout = Duration::from_secs(arguments.timeout.get());
        let admin = environment.admin();
        let arrival =
            wait_for_generation(&admin, &name, report.generation, applied.refusals, timeout).await?;
        report.arrived(arrival.generation, arrival.waited);
    }
    printer.report(&report)?;
    if !applied.running {
        printer.message("no Envoy is running; it will begin with this weight");
    }
    Ok(Outcome::Done)
}

/// Writes a weight, and says what changed; with `dry_run` what would change.
pub(in crate::command) async fn set(
    environment: &Environment,
    request: LocalWeight<'_>,
    dry_run: bool,
) -> Result<(Changed, Option<Applied>), Error> {
    let lock = if dry_run { None } else { Some(Lock::take(environment.layout()).await?) };
    let mut state = environment.state()?;
    let before = state.release(environment.layout(), request.release)?.clone();
    let observed = environment.admin().stats().await.ok();
    let entry = changed(request, &before, observed.as_ref())?;
    let mut report = Changed::between(request.release, &before.state, &entry.state)?;
    state.releases.insert(request.release.to_owned(), entry);
    let plan = environment.plan_of(state)?;
    let Some(lock) = lock else { return Ok((report, None)) };
    let applied = environment.apply(&lock, &plan).await?;
    report.written = true;
    Ok((report, Some(applied)))
}

/// The release after the change. Fails if a preflight check refuses the step.
fn changed(request: LocalWeight<'_>, before: &Entry, stats: Option<&Stats>) -> Result<Entry, Error> {
    let name = request.release;
    let found = before.state.generation;
    if let Some(expected) = request.expected_generation.filter(|expected| *expected != found) {
        return Err(
            crate::local::Error::ConcurrentChange { release: name.to_owned(), expected, found }.into()
        );
    }
    let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    let from = before.state.weight_at(now);
    let to = request.target.from(from);
    let Some(canary) = before.state.version_of(Role::Canary) else {
        let hint = "name one in `versions.canary`, and `canary-ctl generate`";
        return Err(Error::usage(format!("`{name}` has no canary to give users to"), hint));
    };
    if to > from {
        let skipped = request.skipped;
        check_step(before.max_step, from, to, skipped)?;
        let members = stats.and_then(|stats| stats.membership(&format!("{name}/{canary}")));
        check_health(canary, members, skipped)?;
    }
    let until = Expiry::until(request.expires_in, before.state.until, now, before.on_expiry);
    let mut entry = before.clone();
    if (to, until) != (before.state.weight, before.state.until) {
        entry.set_weight(to, until, Operation::Weight);
    }
    Ok(entry)
}

/// Without a running Envoy there is no health to check, and no user to affect.
fn check_health(
    canary: &str,
    members: Option<(u64, u64)>,
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    let Some((0, total)) = members else { return Ok(()) };
    let message = format!("version `{canary}` has no healthy process of {total}");
    let alternative = Alternative::StartProcess { version: canary.to_owned() };
    PreflightCheck::NoReadyPods.refuse(skipped, message, alternative)
}
