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

use crate::cli::{Rollout, RolloutCommand};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::rollout::RolloutVerb;

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
