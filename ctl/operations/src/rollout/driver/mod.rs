//! The driver of a rollout: each reconciliation reads the record, observes the cluster, decides, and
//! writes what follows.
//!
//! It keeps nothing that would be missed: two observations of the counters, which the next reconciliation compares with, and the versions
//! of the objects that had the record's state. So it may be killed anywhere, and another one goes on. Two at once do no harm: each
//! write names the version of the record that was read.
//!
//! ```text
//! observe    what was counted, and what follows from it        Record    -> Found
//! carry_out  writes the record, then what was decided          Found     -> Record
//! ```

mod carry_out;
mod observe;

use super::alerts::{AlertDispatcher, AlertSender};
use super::analysis::{MetricAnalysis, MetricSource};
use super::baseline::Baseline;
use super::deployment::DeployedState;
use super::hooks::{HookCaller, HookDispatcher};
use super::report::RolloutReport;
use super::send_error::FailedDelivery;
use crate::{Cluster, Error};
use canary_release::record::Record;
use canary_release::rollout::{
    DRIVER_TIMEOUT, Decision, Driver, DriverKind, Ending, RolloutAction, RolloutPhase,
};
use canary_release::spec::{MetricQuery, ReleaseName};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Drives the rollout of one release.
pub struct RolloutDriver<'c> {
    cluster: &'c Cluster,
    release: ReleaseName,
    /// The wait for proxies at a promotion or a rollback.
    timeout: Duration,
    baseline: Option<Baseline>,
    deployed: DeployedState,
    alerts: AlertDispatcher,
    metrics: Option<MetricAnalysis>,
    hooks: HookDispatcher,
    /// Its kind and its host, for the record.
    identity: Option<(DriverKind, String)>,
    /// The controller that drives, as it was read last, and when it was seen last by this process.
    followed: Option<(Driver, Timestamp)>,
}

impl<'c> RolloutDriver<'c> {
    /// A driver that has observed nothing yet.
    pub fn new(cluster: &'c Cluster, release: ReleaseName, timeout: Duration) -> Self {
        let alerts = AlertDispatcher::new(cluster.client.client.clone(), release.clone());
        let deployed = DeployedState::default();
        let hooks = HookDispatcher::default();
        Self {
            cluster,
            release,
            timeout,
            baseline: None,
            deployed,
            alerts,
            metrics: None,
            hooks,
            identity: None,
            followed: None,
        }
    }

    /// With what the record says of it. A command follows a controller that drives, and writes nothing until that has ended.
    #[must_use]
    pub fn with_identity(mut self, kind: DriverKind, host: String) -> Self {
        self.identity = Some((kind, host));
        self
    }

    /// The controller that drives the rollout instead.
    pub fn followed(&self) -> Option<&Driver> {
        self.followed.as_ref().map(|(driver, _)| driver)
    }

    /// With a sender of its alerts. Without one they stay in the record until a driver that has one; Events are written anyway. What is for a
    /// receiver that the sender does not know is given up.
    #[must_use]
    pub fn with_alerts(mut self, sender: Arc<dyn AlertSender>) -> Self {
        self.alerts.set_sender(sender);
        self
    }

    /// With the queries of its file, by the names of metrics, and who answers them. Without them nothing is measured; a metric that is not among
    /// them is measured without a result.
    #[must_use]
    pub fn with_metrics(
        mut self,
        queries: BTreeMap<String, MetricQuery>,
        source: Option<Arc<dyn MetricSource>>,
    ) -> Self {
        self.metrics = Some(MetricAnalysis { queries, source });
        self
    }

    /// With a caller of its hooks. Without one none is called, and notifications stay in the record until a driver that has one.
    #[must_use]
    pub fn with_hooks(mut self, caller: Arc<dyn HookCaller>) -> Self {
        self.alerts.set_hooks(Arc::clone(&caller));
        self.hooks.set_caller(caller);
        self
    }

    /// The action that is due now. Writes nothing.
    ///
    /// # Errors
    ///
    /// If there is no rollout, and if the cluster cannot be read.
    pub async fn observe(&mut self, now: Timestamp) -> Result<RolloutReport, Error> {
        Ok(Box::pin(self.find(now)).await?.report)
    }

    /// Observes once, and does what is decided. What a preflight check refuses is not done: the rollout is held for that reason.
    /// Where another client was first nothing is done either.
    ///
    /// # Errors
    ///
    /// If there is no rollout, and if the cluster refuses or does not answer. The next call continues what is left half done.
    pub async fn reconcile(&mut self, now: Timestamp) -> Result<RolloutReport, Error> {
        let found = Box::pin(self.find(now)).await?;
        if self.follows(&found.as_read.record, now) {
            return Ok(found.report);
        }
        let mut report = found.report.clone();
        let (observed, train, is_deployed) = (found.observed.clone(), found.train.clone(), found.is_deployed);
        let as_read = found.as_read.clone();
        let generation = report.record.state.generation;
        match Box::pin(self.carry_out(found, now)).await {
            Ok(record) => report.record = record,
            Err(refusal) if refusal.is_refusal() => {
                let reason = format!("{}: {refusal}", report.decision.reason);
                report.decision = Decision::wait(RolloutPhase::Held, reason);
                self.note_refusal(as_read, &report.decision, now).await?;
                self.call_hooks(&mut report, now);
                return Ok(report);
            }
            Err(Error::ConcurrentChange { .. }) => {
                self.baseline = None;
                let reason = "another client has changed the release meanwhile".to_owned();
                report.decision = Decision::wait(RolloutPhase::Progressing, reason);
                return Ok(report);
            }
            Err(error) => {
                if report.decision.action == RolloutAction::Execute(Ending::Promote) && is_late(&error) {
                    let reason = format!("{}: {error}", report.decision.reason);
                    self.note_refusal(as_read, &Decision::wait(RolloutPhase::Held, reason), now).await?;
                }
                return Err(error);
            }
        }
        self.call_hooks(&mut report, now);
        let is_steady = is_deployed && report.record.state.generation == generation;
        self.baseline = is_steady.then(|| Baseline::new(&report.record, observed, train));
        Ok(report)
    }

    /// Whether a controller drives, and this is a command. The time since the controller was seen is measured by the clock of this process
    /// alone.
    fn follows(&mut self, record: &Record, now: Timestamp) -> bool {
        let is_command = matches!(self.identity, Some((DriverKind::Command, _)));
        let active = record.rollout.as_deref().filter(|rollout| is_command && rollout.is_active());
        let driver = active.and_then(|rollout| rollout.driver.clone());
        let Some(driver) = driver.filter(|driver| driver.kind == DriverKind::Controller) else {
            self.followed = None;
            return false;
        };
        let known = self.followed.take().filter(|(known, _)| *known == driver);
        let seen = known.map_or(now, |(_, seen)| seen);
        if now.duration_since(seen) >= DRIVER_TIMEOUT {
            return false;
        }
        self.followed = Some((driver, seen));
        true
    }

    fn call_hooks(&mut self, report: &mut RolloutReport, now: Timestamp) {
        let requests = report.record.hook_requests(&report.decision, &self.release, now);
        if !self.hooks.start(requests) && report.decision.action == RolloutAction::Wait {
            report.decision.reason.push_str("; this driver has no HTTP client for hooks");
        }
    }

    /// Sends the alerts that are due, and records what became of earlier ones, without driving the rollout: for what is left at its end. The
    /// number of alerts that not everybody has.
    ///
    /// # Errors
    ///
    /// If there is no record, and if the cluster refuses or does not answer.
    pub async fn deliver_alerts(&mut self, now: Timestamp) -> Result<usize, Error> {
        let mut stored = Box::pin(self.cluster.records.get_sealed(&self.release)).await?;
        let has_changed = self.alerts.record_results(&mut stored.record.alerts);
        match self.save(&mut stored, has_changed, now).await {
            Ok(()) | Err(Error::ConcurrentChange { .. }) => Ok(stored.record.alerts.pending().len()),
            Err(error) => Err(error),
        }
    }

    /// Waits until no alert of this driver is in flight: at most as long as a request may take.
    pub async fn settle_alerts(&mut self) {
        self.alerts.settle().await;
    }

    /// The alerts that were not accepted since the last call.
    pub fn failed_deliveries(&mut self) -> Vec<FailedDelivery> {
        self.alerts.failures()
    }
}

/// Whether a promotion waits for others: for proxies that are late, or for who holds the Lease.
fn is_late(error: &Error) -> bool {
    match error {
        Error::InTrain { source, .. } => is_late(source),
        error => matches!(error, Error::Late { .. } | Error::Held { .. }),
    }
}
