//! `weight`: read, judge the step, write, wait, report.

use crate::cli::Weigh;
use crate::local::{Arrival, Entry, Environment, Lock, Stats, wait_for_generation};
use crate::report::{Printer, Report, seconds};
use crate::{Error, Outcome, spec};
use assignment::Weight;
use assignment::contract::{Role, Until};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// What changed. Weights in basis points.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    release: String,
    canary: String,
    from: Weight,
    to: Weight,
    generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<jiff::Timestamp>,
    written: bool,
    /// The generation that every worker runs, where it was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_seconds: Option<f64>,
}

pub(super) async fn run(arguments: &Weigh, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = spec::load(&arguments.spec.file)?;
    let environment = Environment::of(&document.release)?;
    let name = super::release_name(arguments.release.as_deref(), &document);
    let lock = if arguments.dry_run { None } else { Some(Lock::take(environment.layout()).await?) };
    let mut state = environment.state()?;
    let before = state.release(environment.layout(), &name)?.clone();
    // Who wants to wait has to know beforehand that there is nothing to wait for.
    let observed = match environment.admin().stats().await {
        Err(error) if arguments.wait && !arguments.dry_run => return Err(error.into()),
        seen => seen.ok(),
    };
    let entry = changed(arguments, &name, &before, observed.as_ref())?;
    let mut report = describe(&name, &before, &entry)?;
    state.releases.insert(name.clone(), entry);
    let plan = environment.plan_of(state)?;
    let Some(lock) = lock else {
        printer.report(&report)?;
        return Ok(Outcome::Done);
    };
    let applied = environment.apply(&lock, &plan).await?;
    drop(lock);
    report.written = true;
    if arguments.wait {
        let patience = Duration::from_secs(arguments.timeout.get());
        let admin = environment.admin();
        let arrival =
            wait_for_generation(&admin, &name, report.generation, applied.refusals, patience).await?;
        report.note(arrival);
    }
    printer.report(&report)?;
    if !applied.running {
        printer.message("no Envoy is running; it will begin with this weight");
    }
    Ok(Outcome::Done)
}

/// The release after the change. Fails on a step that needs to be asked for twice.
fn changed(arguments: &Weigh, name: &str, before: &Entry, stats: Option<&Stats>) -> Result<Entry, Error> {
    let found = before.standing.generation;
    if let Some(expected) = arguments.expect_generation.filter(|expected| *expected != found) {
        return Err(crate::local::Error::Overtaken { release: name.to_owned(), expected, found }.into());
    }
    let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    let from = before.standing.weight_at(now);
    let to = arguments.target.from(from);
    let Some(canary) = before.standing.version_of(Role::Canary) else {
        let hint = "name one in `versions.canary`, and `canary-ctl generate`";
        return Err(Error::usage(format!("`{name}` has no canary to give users to"), hint));
    };
    if to > from && !arguments.force {
        judge_step(before, from, to)?;
        judge_health(name, canary, stats)?;
    }
    let until = arguments
        .expires_in
        .map(|life| Until { at_seconds: now.saturating_add(life.get()), action: before.until_action });
    let mut entry = before.clone();
    entry.set_weight(to, until, "weight");
    Ok(entry)
}

/// Only raises are judged: taking users off a canary is never refused.
fn judge_step(before: &Entry, from: Weight, to: Weight) -> Result<(), Error> {
    let step = to.basis_points().saturating_sub(from.basis_points());
    if step <= before.max_step.basis_points() {
        return Ok(());
    }
    let message = format!("expected a step of at most {}, found {from} to {to}", before.max_step);
    Err(Error::usage(message, "take smaller steps, change `maxStep`, or give `--force`"))
}

/// Where no Envoy runs nobody knows, and nobody is hurt.
fn judge_health(name: &str, canary: &str, stats: Option<&Stats>) -> Result<(), Error> {
    match stats.and_then(|stats| stats.membership(&format!("{name}/{canary}"))) {
        Some((0, total)) => {
            let message = format!("version `{canary}` has no healthy process of {total}");
            Err(Error::usage(message, "start it, or give `--force`"))
        }
        _ => Ok(()),
    }
}

fn describe(name: &str, before: &Entry, after: &Entry) -> Result<Changed, Error> {
    let at = |until: Until| {
        let seconds = i64::try_from(until.at_seconds).unwrap_or(i64::MAX);
        jiff::Timestamp::from_second(seconds).map_err(|error| {
            Error::usage(format!("expected a nearer end: {error}"), "give a shorter `--for`")
        })
    };
    Ok(Changed {
        release: name.to_owned(),
        canary: after.standing.version_of(Role::Canary).unwrap_or_default().to_owned(),
        from: before.standing.weight,
        to: after.standing.weight,
        generation: after.standing.generation,
        until: after.standing.until.map(at).transpose()?,
        written: false,
        running: None,
        waited_seconds: None,
    })
}

impl Changed {
    fn note(&mut self, arrival: Arrival) {
        self.running = Some(arrival.generation);
        self.waited_seconds = Some(arrival.waited.as_secs_f64());
    }
}

impl Report for Changed {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let would = if self.written { "" } else { "would be " };
        let Self { release, canary, from, to, generation, .. } = self;
        write!(out, "{release}: {canary} {would}{from} -> {to} (generation {generation}")?;
        if let Some(waited) = self.waited_seconds {
            write!(out, ", active after {}", seconds(Duration::from_secs_f64(waited)))?;
        }
        write!(out, ")")?;
        if let Some(until) = self.until {
            write!(out, ", until {until}")?;
        }
        writeln!(out)
    }
}
