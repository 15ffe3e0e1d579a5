//! `token revoke`: read, move the moment before which tokens do not count, write, wait, report.

use super::arguments::{Output, SpecFile, only_client};
use super::release_context;
use crate::local::{Environment, Lock, wait_for_generation};
use crate::report::{Printer, Report};
use crate::token::{self, IssueError};
use crate::{Error, Outcome, module};
use canary_release::record::Operation;
use canary_release::spec::Mode;
use clap::{ArgAction, Args};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Revoke every token that was issued until now
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl token revoke --wait\n\n\
    For the local target. Elsewhere set `tokensNotBefore` in the release.")]
pub(super) struct TokenRevoke {
    /// Wait until Envoy refuses them
    #[arg(long)]
    pub(super) wait: bool,
    /// Print what would change, and change nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Revoked {
    release: String,
    /// Tokens issued before do not count.
    tokens_not_before: Timestamp,
    generation: u64,
    written: bool,
}

/// The timeout of `--wait`.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) async fn run(arguments: &TokenRevoke, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let release = module::load(&arguments.spec.file)?.release;
    // The present second is over for tokens too: all that were issued until now are meant.
    let moment = release_context::now() + 1;
    let at = timestamp(moment)?;
    if release.delivery.mode != Mode::Local {
        let message = "expected a release with `delivery.mode: local`: other targets have no state here";
        let hint =
            format!("set `override: {{mode: token, tokensNotBefore: {at}}}` in the release, and apply it");
        return Err(Error::usage(message, hint));
    }
    let environment = Environment::of(&release)?;
    let name = release.name.to_string();
    let lock = if arguments.dry_run { None } else { Some(Lock::take(environment.layout()).await?) };
    let mut state = environment.state()?;
    let mut entry = state.release(environment.layout(), &name)?.clone();
    let off = || token::Error::from(IssueError::NotByToken("off"));
    let token = entry.config.overrides.token.as_mut().ok_or_else(off)?;
    token.not_before_seconds = token.not_before_seconds.max(moment);
    let tokens_not_before = timestamp(token.not_before_seconds)?;
    let (weight, until) = (entry.state.weight, entry.state.until);
    entry.set_weight(weight, until, Operation::TokenRevoke);
    let generation = entry.state.generation;
    state.releases.insert(name.clone(), entry);
    let plan = environment.plan_of(state)?;
    let written = lock.is_some();
    if let Some(lock) = lock {
        let applied = environment.apply(&lock, &plan).await?;
        drop(lock);
        if arguments.wait {
            let admin = environment.admin();
            wait_for_generation(&admin, &name, generation, applied.refusals, TIMEOUT).await?;
        }
    }
    printer.report(&Revoked { release: name, tokens_not_before, generation, written })?;
    Ok(Outcome::Done)
}

fn timestamp(seconds: u64) -> Result<Timestamp, Error> {
    let found = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    found.ok_or_else(|| Error::usage("expected a moment that a calendar has", "look at the system's clock"))
}

impl Report for Revoked {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self { release, tokens_not_before, generation, .. } = self;
        let do_not = if self.written { "do not" } else { "would not" };
        writeln!(
            out,
            "{release}: tokens issued before {tokens_not_before} {do_not} count (generation {generation})"
        )
    }
}
