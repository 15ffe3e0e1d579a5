//! `rollout`: what people ask of a rollout, its status, and the loop that drives it.
//!
//! ```text
//! change   start, approve, pause, resume, retry, abort, promote   record      -> RolloutView
//! alerts   a test message to the receivers of alerts              file        -> AlertTestReport
//! hooks    one call of each hook                                  file        -> HookTestReport
//! metrics  what the queries of a rollout find now                 file        -> MetricTestReport
//! drive    status, and the driver in the foreground               reports     -> RolloutView
//! view     a rollout as it is printed                             Record      -> text
//! ```

mod alerts;
mod change;
mod drive;
mod hooks;
mod metrics;
mod view;

pub(super) use drive::{driver, process_name};

use crate::report::Printer;
use crate::{Error, Outcome};
use alerts::TestAlerts;
use canary_release::rollout::RolloutVerb;
use change::{RolloutChange, RolloutStart};
use clap::{Args, Subcommand};
use drive::{RolloutRun, RolloutStatus};
use hooks::TestHooks;
use metrics::TestMetrics;

/// Roll out the canary automatically, and promote it or roll it back on evidence
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rollout start           by the plan `default`, and then
  canary-ctl rollout run             from the first step to the promotion
  canary-ctl rollout status --watch  step, evidence, and what it waits for
  canary-ctl rollout approve         let a step with `gate: manual` go on

The verbs write the record of the release; `rollout run` carries it out. It can
be stopped and run again, also twice at once. If no process renews the weight,
it expires. More: docs/rollouts.md")]
pub(super) struct Rollout {
    #[command(subcommand)]
    pub(super) verb: RolloutCommand,
}

/// The verbs for a rollout.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum RolloutCommand {
    /// Start a rollout of the canary by a plan of the file
    Start(RolloutStart),
    /// Observe, decide and write until the rollout has ended
    Run(RolloutRun),
    /// Show the state of a rollout, its evidence, and what it waits for
    Status(RolloutStatus),
    /// Let a step with `gate: manual` go on
    #[command(after_help = "Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout approve")]
    Approve(RolloutChange),
    /// Keep the weight until `rollout resume`
    #[command(after_help = "`canary-ctl pause` keeps other users from changing the release.

Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout pause")]
    Pause(RolloutChange),
    /// End a pause, or give the weight back to the rollout after a weight was set by hand
    #[command(after_help = "`canary-ctl resume` ends a `canary-ctl pause` of the release.

Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout resume")]
    Resume(RolloutChange),
    /// Forget the evidence against the canary, and begin its step again
    #[command(after_help = "Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout retry  the cause was found, and it is not the canary")]
    Retry(RolloutChange),
    /// End the rollout: a rollback, or no new users where `onFailure` is not `rollback`
    #[command(after_help = "Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout abort && canary-ctl rollout run")]
    Abort(RolloutChange),
    /// Promote the canary now, whatever is left of the plan
    #[command(after_help = "`canary-ctl promote` is for a release without a rollout.

Exit codes: 0 done, 2 failed or refused.

Example:
  canary-ctl rollout promote && canary-ctl rollout run")]
    Promote(RolloutChange),
    /// Send a test message to the receivers of alerts
    TestAlerts(TestAlerts),
    /// Call each hook of a rollout once, and say what it has responded
    TestHooks(TestHooks),
    /// Ask Prometheus for the metrics of a rollout, and say what they would say
    TestMetrics(TestMetrics),
}

pub(super) async fn run(arguments: &Rollout, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.verb {
        RolloutCommand::Start(start) => change::start(start, printer).await,
        RolloutCommand::Run(run) => drive::run(run, printer).await,
        RolloutCommand::Status(status) => drive::status(status, printer).await,
        RolloutCommand::Approve(on) => change::change(on, RolloutVerb::Approve, printer).await,
        RolloutCommand::Pause(on) => change::change(on, RolloutVerb::Pause, printer).await,
        RolloutCommand::Resume(on) => change::change(on, RolloutVerb::Resume, printer).await,
        RolloutCommand::Retry(on) => change::change(on, RolloutVerb::Retry, printer).await,
        RolloutCommand::Abort(on) => change::change(on, RolloutVerb::Abort, printer).await,
        RolloutCommand::Promote(on) => change::change(on, RolloutVerb::Promote, printer).await,
        RolloutCommand::TestAlerts(test) => alerts::test(test, printer).await,
        RolloutCommand::TestHooks(test) => hooks::test(test, printer).await,
        RolloutCommand::TestMetrics(test) => metrics::test(test, printer).await,
    }
}
