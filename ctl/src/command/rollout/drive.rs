//! The status of a rollout, and its driver in the foreground.

use super::view::{NoRollout, RolloutView};
use crate::alert::HttpAlertSender;
use crate::command::arguments::{ClusterAccess, Output, ReleaseArguments, only_client};
use crate::command::named_release::{self, InvalidFile, NamedRelease};
use crate::command::target;
use crate::hook::HttpHookCaller;
use crate::prometheus::HttpMetricSource;
use crate::report::{Printer, escape};
use crate::{Error, Outcome};
use assignment::Weight;
use canary_operations::{Cluster, MetricSource, RolloutDriver, RolloutReport};
use canary_release::alert::RolloutResult;
use canary_release::format::counted;
use canary_release::rollout::{Driver, DriverKind, RolloutAction, RolloutPhase, VerbError};
use canary_release::spec::{Release, ReleaseName, RolloutSpec, Seconds};
use clap::{ArgAction, Args};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Show the state of a rollout, its evidence, and what it waits for
#[derive(Clone, Debug, Args)]
#[command(after_help = "`canary-ctl status` shows the release itself.

Examples:
  canary-ctl rollout status
  canary-ctl rollout status --watch
  canary-ctl rollout status -o json")]
pub(in crate::command) struct RolloutStatus {
    #[command(flatten)]
    pub(in crate::command) of: ReleaseArguments,
    /// Print it again every two seconds
    #[arg(short, long)]
    pub(in crate::command) watch: bool,
    #[command(flatten)]
    pub(in crate::command) cluster: ClusterAccess,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// Observe, decide and write until the rollout has ended
#[derive(Clone, Debug, Args)]
#[command(after_help = "Progress is on stderr. Ctrl-C ends the driver and not the rollout.

Exit codes: 0 promoted or all steps done, 1 rolled back or stopped, 2 failed.

Examples:
  canary-ctl rollout run                 in a terminal, in CI, in a Job
  canary-ctl rollout run --interval 30s  from 50 proxies on
  canary-ctl rollout run --dry-run       print what would be done now")]
pub(in crate::command) struct RolloutRun {
    #[command(flatten)]
    pub(in crate::command) of: ReleaseArguments,
    /// The time between two observations
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(in crate::command) interval: Seconds,
    /// How long to wait for proxies at a promotion or a rollback
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(in crate::command) timeout: Seconds,
    /// Print what would be done now, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
    #[command(flatten)]
    pub(in crate::command) cluster: ClusterAccess,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// Between two reports of `--watch`.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// An API server that does not respond is waited for so long when `run` begins, and without a limit later: an address may be wrong.
const FIRST_RESPONSE: Duration = Duration::from_mins(5);

/// At the end of a rollout its alerts are sent so long: longer than a claim of a driver that was killed lasts.
const LAST_ALERTS: Duration = Duration::from_mins(1);

/// A rollout that waits says so this often.
const QUIET_FOR: Duration = Duration::from_mins(1);

pub(super) async fn status(arguments: &RolloutStatus, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let NamedRelease { name, document } =
        named_release::find(&arguments.of, &arguments.cluster, InvalidFile::Ignored)?;
    document.as_ref().map_or(Ok(()), target::for_a_cluster)?;
    let cluster = target::connect(&arguments.cluster).await?;
    // It writes nothing, so it waits for nothing.
    let mut driver = RolloutDriver::new(&cluster, name.clone(), Duration::ZERO);
    loop {
        let report = match driver.observe(Timestamp::now()).await {
            Err(canary_operations::Error::Rollout(VerbError::NotActive { .. })) => None,
            observed => Some(observed?),
        };
        if arguments.watch {
            printer.clear()?;
        }
        let Some(report) = report.filter(|report| report.record.rollout.is_some()) else {
            printer.report(&NoRollout::of(&name))?;
            return Ok(Outcome::Done);
        };
        printer.report(&RolloutView::of_report(&name, report)?)?;
        if !arguments.watch {
            return Ok(Outcome::Done);
        }
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
}

pub(super) async fn run(arguments: &RolloutRun, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let Release { name, rollout, .. } = named_release::with_file(&arguments.of, &arguments.cluster)?.release;
    let cluster = connect(arguments, printer).await?;
    let timeout = Duration::from_secs(arguments.timeout.get());
    let driver = driver(&cluster, &name, rollout, timeout);
    let mut driver = driver.with_identity(DriverKind::Command, process_name());
    if arguments.dry_run {
        let report = driver.observe(Timestamp::now()).await?;
        printer.report(&RolloutView::of_report(&name, report)?)?;
        return Ok(Outcome::Done);
    }
    let mut progress = Progress::default();
    loop {
        match Box::pin(driver.reconcile(Timestamp::now())).await {
            Ok(report) => {
                progress.follow(driver.followed(), printer);
                progress.report(&report, printer);
                undelivered(&mut driver, printer);
                if let Some(result) = report.ended() {
                    last_alerts(&mut driver, printer).await;
                    printer.report(&RolloutView::of_report(&name, report)?)?;
                    return Ok(outcome(result));
                }
                if report.decision.action != RolloutAction::Wait && driver.followed().is_none() {
                    // What follows a write needs no new observation.
                    continue;
                }
            }
            Err(error) if error.is_transient() => progress.error(&error, printer),
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(Duration::from_secs(arguments.interval.get())).await;
    }
}

/// With the receivers, the queries and the hooks of a file, which are those of its own release: a record never says to whom a token, a command or
/// an alert is sent, nor what is asked. Without its file the alerts stay in the record until a driver that has it.
pub(in crate::command) fn driver<'c>(
    cluster: &'c Cluster,
    name: &ReleaseName,
    file: RolloutSpec,
    timeout: Duration,
) -> RolloutDriver<'c> {
    let driver = RolloutDriver::new(cluster, name.clone(), timeout);
    let RolloutSpec { analysis, hooks, alerts, .. } = file;
    let secrets = cluster.secrets(name.namespace.as_str());
    let source = analysis.prometheus.map(|server| {
        let source: Arc<dyn MetricSource> = Arc::new(HttpMetricSource::new(server, Some(secrets.clone())));
        source
    });
    driver
        .with_alerts(Arc::new(HttpAlertSender::new(alerts.endpoints)))
        .with_metrics(analysis.queries, source)
        .with_hooks(Arc::new(HttpHookCaller::new(hooks.endpoints, Some(secrets))))
}

/// The name of this process in records: its pod, or its host.
pub(in crate::command) fn process_name() -> String {
    let host = || hostname::get().ok()?.into_string().ok();
    std::env::var("POD_NAME").ok().or_else(host).unwrap_or_else(|| format!("process {}", std::process::id()))
}

/// Finds the cluster, also where its API server is away for a moment.
async fn connect(arguments: &RolloutRun, printer: &mut Printer) -> Result<Cluster, Error> {
    let begun = Instant::now();
    let mut progress = Progress::default();
    loop {
        match target::connect(&arguments.cluster).await {
            Err(Error::Cluster(error)) if error.is_transient() && begun.elapsed() < FIRST_RESPONSE => {
                progress.error(&error, printer);
            }
            connected => return connected,
        }
        tokio::time::sleep(Duration::from_secs(arguments.interval.get())).await;
    }
}

/// Says which alerts were not accepted. None ends or delays a rollout.
fn undelivered(driver: &mut RolloutDriver<'_>, printer: &mut Printer) {
    for failed in driver.failed_deliveries() {
        let next = if failed.error.is_final { "" } else { "; it is sent again" };
        printer.message(&format!("{:.0} {failed}{next}", Timestamp::now()));
    }
}

/// Sends what is left when a rollout has ended, for a bounded time. What is left then is sent by the next `run`.
async fn last_alerts(driver: &mut RolloutDriver<'_>, printer: &mut Printer) {
    let begun = Instant::now();
    loop {
        driver.settle_alerts().await;
        let pending = driver.deliver_alerts(Timestamp::now()).await;
        undelivered(driver, printer);
        match pending {
            Ok(0) => return,
            _ if begun.elapsed() < LAST_ALERTS => tokio::time::sleep(WATCH_INTERVAL).await,
            Ok(pending) => {
                let alerts = counted(pending, "alert", "alerts");
                return printer.message(&format!("not delivered: {alerts}"));
            }
            Err(error) => return printer.message(&format!("alerts: {}", crate::report::with_causes(&error))),
        }
    }
}

/// 0 where the canary was good, 1 where it was not.
const fn outcome(result: RolloutResult) -> Outcome {
    match result {
        RolloutResult::Promoted | RolloutResult::Completed | RolloutResult::Observed => Outcome::Done,
        RolloutResult::RolledBack | RolloutResult::Stopped => Outcome::Differences,
    }
}

/// The last line, so that a rollout that waits for an hour does not print a thousand lines.
#[derive(Default)]
struct Progress {
    phase: Option<RolloutPhase>,
    /// Two steps may have the same phase and reason.
    weight: Weight,
    reason: String,
    at: Option<Instant>,
    error: Option<String>,
    followed: Option<Driver>,
}

impl Progress {
    /// Says that a controller drives instead, and when it has ended.
    fn follow(&mut self, followed: Option<&Driver>, printer: &mut Printer) {
        let as_shown = |driver: &Driver| (driver.host.clone(), driver.since);
        if self.followed.as_ref().map(as_shown) == followed.map(as_shown) {
            return;
        }
        let text = match (followed, &self.followed) {
            (Some(driver), _) => {
                format!("{driver} drives; this command follows, and drives once the controller has ended")
            }
            (None, Some(before)) => format!("{before} drives no more"),
            (None, None) => return,
        };
        printer.message(&format!("{:.0} {}", Timestamp::now(), escape::line(&text)));
        self.followed = followed.cloned();
    }

    fn report(&mut self, report: &RolloutReport, printer: &mut Printer) {
        let decision = &report.decision;
        let is_quiet = self.at.is_some_and(|at| at.elapsed() < QUIET_FOR);
        let weight = report.record.state.weight;
        // What is waited for changes its text with each second.
        let is_same = (self.phase, self.weight) == (Some(decision.phase), weight)
            && (decision.action == RolloutAction::Wait || self.reason == decision.reason);
        let had_error = self.error.take().is_some();
        if is_quiet && is_same && !had_error {
            return;
        }
        (self.phase, self.weight, self.at) = (Some(decision.phase), weight, Some(Instant::now()));
        self.reason.clone_from(&decision.reason);
        let time = Timestamp::now();
        printer.message(&format!("{time:.0} {weight} {}: {}", decision.phase, decision.reason));
    }

    fn error(&mut self, error: &canary_operations::Error, printer: &mut Printer) {
        let text = crate::report::with_causes(error);
        if self.error.as_ref() != Some(&text) {
            printer.message(&format!("{:.0} waits: {text}", Timestamp::now()));
            self.error = Some(text);
        }
    }
}
