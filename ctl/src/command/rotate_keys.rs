//! `rotate-keys`: read, judge, write step by step, wait for each, report.

use super::arguments::{self, ClusterAccess, Output, SkipChecks, SpecFile, Writes};
use super::target;
use crate::report::{Printer, Report};
use crate::{Error, Outcome};
use assignment::contract::KeyUse;
use canary_operations::{RotateOptions, Rotated};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// Rotate the signing key without invalidating sessions
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rotate-keys           a new key signs, the old one verifies
  canary-ctl rotate-keys --retire  delete the old one, a day later at least

The new key verifies in every proxy before it signs in any. After an
interruption the same call continues.

Exit codes: 0 done, 2 failed or refused.")]
#[command(arg = arguments::waits_always())]
pub(super) struct RotateKeys {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// Take the keys away that signed before
    #[arg(long)]
    pub(super) retire: bool,
    #[command(flatten)]
    pub(super) writes: Writes,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

/// The keys of a release, by name: nothing of what they are is shown.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    release: String,
    signs: String,
    verify: Vec<String>,
    /// From when on those may go that signed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    retire_from: Option<Timestamp>,
    /// The generation that brought them to the proxies; none if nothing had to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
}

pub(super) async fn run(arguments: &RotateKeys, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load_for(&arguments.spec, &arguments.cluster)?;
    let release = &document.release;
    let how = target::write_options(&arguments.checks.skipped);
    let cluster = target::connect_as(&arguments.cluster, how).await?;
    let rotated = {
        let mut progress = target::progress(printer);
        let waiting = target::waiting(arguments.writes.timeout, &mut progress);
        let how = RotateOptions { waiting, skipped: &arguments.checks.skipped };
        match (arguments.writes.dry_run, arguments.retire) {
            (Some(_), retire) => cluster.dry_run_rotation(release, retire, how.skipped).await?,
            (None, true) => cluster.retire_keys(release, how).await?,
            (None, false) => Box::pin(cluster.rotate_keys(release, how)).await?,
        }
    };
    let keys = Keys::of(release.name.to_string(), &rotated);
    printer.report(&keys)?;
    target::report_unseen(rotated.applied.as_ref().and_then(|applied| applied.arrival.as_ref()), printer);
    if arguments.writes.dry_run.is_some() {
        printer.message("nothing written");
    } else if let Some(from) = keys.retire_from {
        let old = keys.verify.join(", ");
        printer.hint(&format!("`canary-ctl rotate-keys --retire` takes {old} away from {from:.0} on"));
    }
    Ok(Outcome::Done)
}

impl Keys {
    fn of(release: String, rotated: &Rotated) -> Self {
        let verifies = |key: &&assignment::contract::RingKey| key.usage == KeyUse::Verify;
        Self {
            release,
            signs: rotated.ring.signer().map(|key| key.id.clone()).unwrap_or_default(),
            verify: rotated.ring.keys.iter().filter(verifies).map(|key| key.id.clone()).collect(),
            retire_from: rotated.retire_from,
            generation: rotated.applied.as_ref().map(|applied| applied.record.state.generation),
        }
    }
}

impl Report for Keys {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self { release, signs, verify, generation, .. } = self;
        write!(out, "{release}: {signs} signs")?;
        if !verify.is_empty() {
            write!(out, ", {} verifies", verify.join(", "))?;
        }
        match generation {
            Some(generation) => writeln!(out, " (generation {generation})"),
            None => writeln!(out),
        }
    }
}
