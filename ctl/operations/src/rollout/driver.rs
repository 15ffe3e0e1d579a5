//! The driver of a rollout: each reconciliation reads the record, observes the cluster, decides, and
//! writes what follows.
//!
//! It keeps nothing that would be missed: two observations of the counters, which the next reconciliation compares with, and the versions
//! of the objects that had the record's state. So it may be killed anywhere, and another one goes on. Two at once do no harm: each
//! write names the version of the record that was read.

use super::GroupCounters;
use super::alerts::{AlertDispatcher, AlertSender};
use super::analysis::{MetricSource, measure};
use super::baseline::Baseline;
use super::deployment::DeployedState;
use super::hooks::{HookCaller, HookDispatcher};
use super::report::RolloutReport;
use super::send_error::FailedDelivery;
use super::train::{TrainCounters, TrainScope};
use crate::{Cluster, Error, PromoteOptions, RollbackOptions, StoredRecord, WaitOptions};
use assignment::contract::Role;
use canary_release::evidence::ProxyCoverage;
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Record, ScaledDown};
use canary_release::rollout::{Decision, Ending, RolloutAction, RolloutObservation, RolloutPhase, VerbError};
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The plan of a rollout was agreed on when it was started, whatever its steps.
const AGREED: &[PreflightCheck] = &[PreflightCheck::MaxStep];

/// Drives the rollout of one release.
pub struct RolloutDriver<'c> {
    cluster: &'c Cluster,
    release: ReleaseName,
    /// How long proxies are waited for at a promotion or a rollback.
    timeout: Duration,
    baseline: Option<Baseline>,
    train_scope: TrainScope,
    deployed: DeployedState,
    alerts: AlertDispatcher,
    metrics: Option<Arc<dyn MetricSource>>,
    hooks: HookDispatcher,
}

/// What was observed, before anything is written.
struct Found {
    /// The record as it was read.
    as_read: StoredRecord,
    /// The same with what was counted.
    stored: StoredRecord,
    observed: GroupCounters,
    train: TrainCounters,
    /// Whether evidence, measurements or results of hooks were added to the record.
    has_evidence: bool,
    is_deployed: bool,
    report: RolloutReport,
}

impl<'c> RolloutDriver<'c> {
    /// A driver that has observed nothing yet.
    pub fn new(cluster: &'c Cluster, release: ReleaseName, timeout: Duration) -> Self {
        let alerts = AlertDispatcher::new(cluster.client.client.clone(), release.clone());
        let deployed = DeployedState::default();
        let (hooks, train_scope) = (HookDispatcher::default(), TrainScope::default());
        Self {
            cluster,
            release,
            timeout,
            baseline: None,
            train_scope,
            deployed,
            alerts,
            metrics: None,
            hooks,
        }
    }

    /// With a sender of its alerts. Without one they stay in the record until a driver that has one; Events are written anyway.
    #[must_use]
    pub fn with_alerts(mut self, sender: Arc<dyn AlertSender>) -> Self {
        self.alerts.set_sender(sender);
        self
    }

    /// With a source of its metrics. Without one nothing is measured.
    #[must_use]
    pub fn with_metrics(mut self, source: Arc<dyn MetricSource>) -> Self {
        self.metrics = Some(source);
        self
    }

    /// With a caller of its hooks. Without one none is called, and notifications stay in the record until a driver that has one.
    #[must_use]
    pub fn with_hooks(mut self, caller: Arc<dyn HookCaller>) -> Self {
        self.alerts.set_hooks(Arc::clone(&caller));
        self.hooks.set_caller(caller);
        self
    }

    /// What would be done now. Writes nothing.
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
        let earlier = self.baseline.take();
        self.baseline = is_steady.then(|| Baseline::next(earlier, &report.record, observed, train));
        Ok(report)
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
        let mut stored = self.cluster.get_record(&self.release).await?;
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

    async fn find(&mut self, now: Timestamp) -> Result<Found, Error> {
        let mut stored = self.cluster.get_record(&self.release).await?;
        if stored.record.rollout.is_none() {
            return Err(VerbError::NotActive { found: "none".to_owned() }.into());
        }
        let as_read = stored.clone();
        let is_deployed = self.deployed.is_deployed(self.cluster, &self.release, &stored.record).await?;
        let source = self.metrics.as_deref().filter(|_| is_deployed);
        let (observed, train, measured) = tokio::join!(
            self.cluster.group_counters(&self.release, &stored.record, now),
            self.cluster.train_counters(&self.release, &stored.record, &mut self.train_scope),
            measure(source, &stored.record, now),
        );
        let observed = observed?;
        let baseline = self.baseline.as_ref().filter(|_| is_deployed);
        let interval = baseline.and_then(|baseline| baseline.interval(&stored.record, &observed, &train));
        let proxies = ProxyCoverage {
            observed: interval.as_ref().map_or(observed.counters.len(), |interval| interval.counts.proxies),
            of: observed.proxies,
        };
        let has_train = stored.record.note_train(&train.observed());
        let train_report = train.report(&stored.record, interval.as_ref());
        let has_interval = interval.is_some_and(|interval| interval.add_to(&mut stored.record)) || has_train;
        let has_measured = stored.record.add_measurements(&measured, now);
        let has_called = self.hooks.record_results(&mut stored.record, now);
        let has_fused = stored.record.note_fuses(observed.fused, now);
        let has_counted = stored.record.note_stable_pods(stored.record.state.weight, observed.stable_pods);
        let has_evidence = has_interval || has_measured || has_called || has_fused || has_counted;
        let record = stored.record.clone();
        let (Some(rollout), Some(assessment)) =
            (&record.rollout, record.assess_rollout(proxies, train_report, now))
        else {
            return Err(VerbError::NotActive { found: "none".to_owned() }.into());
        };
        let seen = RolloutObservation {
            role: record.rollout_role(),
            weight: record.state.weight,
            until: record.state.until,
            is_deployed,
            fused: observed.fused,
            scaled_down: scaled_down(&record, &observed, now),
            dependencies: self.cluster.dependencies(rollout).await,
            assessment: assessment.clone(),
        };
        let decision = rollout.next(&seen, now);
        let report = RolloutReport { record, decision, assessment, proxies };
        Ok(Found { as_read, stored, observed, train, has_evidence, is_deployed, report })
    }

    /// Does what was decided; the record afterwards.
    async fn carry_out(&mut self, found: Found, now: Timestamp) -> Result<Record, Error> {
        let Found { mut stored, has_evidence, observed, report, .. } = found;
        let has_results = self.alerts.record_results(&mut stored.record.alerts);
        let has_note = stored.record.note_wait(&report.decision, now);
        match report.decision.action {
            RolloutAction::Wait => {
                self.save(&mut stored, has_evidence || has_results || has_note, now).await?;
                Ok(stored.record)
            }
            RolloutAction::Deploy => {
                self.cluster.write_record_state(&self.release, &stored).await?;
                Ok(stored.record)
            }
            RolloutAction::Execute(Ending::Promote) => self.promote(stored).await,
            RolloutAction::Execute(Ending::Rollback) => self.roll_back(stored).await,
            RolloutAction::Execute(Ending::Stop) => {
                stored.record.stop_rollout(&self.cluster.user);
                self.write(stored, true, now).await
            }
            RolloutAction::EnterStep(_)
            | RolloutAction::Renew
            | RolloutAction::Decide(_)
            | RolloutAction::End(_) => self.apply(stored, &report.decision, observed.stable_pods, now).await,
        }
    }

    /// Writes a decision that the record holds.
    async fn apply(
        &mut self,
        mut stored: StoredRecord,
        decision: &Decision,
        stable_pods: usize,
        now: Timestamp,
    ) -> Result<Record, Error> {
        let before = stored.record.clone();
        stored.record.apply_decision(decision, &self.cluster.user, now);
        stored.record.note_stable_pods(before.state.weight, stable_pods);
        if matches!(decision.action, RolloutAction::EnterStep(_)) {
            let weight = stored.record.state.weight;
            self.cluster.check_weight_change(&self.release, &before, weight, AGREED).await?;
        }
        let is_deployed_too = stored.record.state.generation != before.state.generation;
        self.write(stored, is_deployed_too, now).await
    }

    async fn write(
        &mut self,
        mut stored: StoredRecord,
        deploys: bool,
        now: Timestamp,
    ) -> Result<Record, Error> {
        if deploys {
            self.cluster.check_config_update(&self.release, &stored).await?;
        }
        self.save(&mut stored, true, now).await?;
        if deploys {
            self.cluster.write_weight(&self.release, &stored).await?;
        }
        Ok(stored.record)
    }

    /// Writes the record if it has changed, or if alerts are to be sent, and then sends those.
    async fn save(
        &mut self,
        stored: &mut StoredRecord,
        has_changed: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let before = stored.record.alerts.clone();
        let due = self.alerts.claim(&mut stored.record.alerts, now);
        if has_changed || stored.record.alerts != before {
            self.cluster.records.save(&self.release, stored).await?;
            self.alerts.send(due, stored);
        }
        Ok(())
    }

    /// Tells of a rollout that a check holds. What was counted meanwhile is not written: the next interval begins where this one did. What hooks
    /// have said is, so that a test is not made again.
    async fn note_refusal(
        &mut self,
        mut stored: StoredRecord,
        decision: &Decision,
        now: Timestamp,
    ) -> Result<(), Error> {
        let has_called = self.hooks.record_results(&mut stored.record, now);
        let has_results = self.alerts.record_results(&mut stored.record.alerts) || has_called;
        let has_note = stored.record.note_wait(decision, now);
        match self.save(&mut stored, has_results || has_note, now).await {
            // The next reconciliation reads what the other client has written.
            Err(Error::ConcurrentChange { .. }) => Ok(()),
            done => done,
        }
    }

    async fn promote(&self, stored: StoredRecord) -> Result<Record, Error> {
        let options = PromoteOptions { drain: None, skipped: AGREED };
        let mut waiting = WaitOptions { timeout: self.timeout, progress: &mut |_, _| {} };
        Box::pin(self.cluster.promote_with_followers(&self.release, stored, options, &mut waiting)).await
    }

    async fn roll_back(&self, stored: StoredRecord) -> Result<Record, Error> {
        let checked = self.cluster.check_rollback(&self.release, stored, RollbackOptions::default()).await?;
        let mut waiting = WaitOptions { timeout: self.timeout, progress: &mut |_, _| {} };
        let changed = Box::pin(self.cluster.roll_back(checked, &mut waiting)).await?;
        Ok(changed.stored.record)
    }
}

/// Stable, where it has too few pods for the users who would come back.
fn scaled_down(record: &Record, observed: &GroupCounters, now: Timestamp) -> Option<ScaledDown> {
    let is_canary = |version: &str| record.state.version_of(Role::Canary) == Some(version);
    let ready = |version: &str| if is_canary(version) { observed.canary_pods } else { observed.stable_pods };
    record.scaled_down(ready, u64::try_from(now.as_second()).unwrap_or_default())
}

/// Whether a promotion waits for others: for proxies that are late, or for who holds the Lease.
fn is_late(error: &Error) -> bool {
    match error {
        Error::InTrain { source, .. } => is_late(source),
        error => matches!(error, Error::Late { .. } | Error::Held { .. }),
    }
}
