//! What a driver observes before it writes anything, and what follows from it.

use super::RolloutDriver;
use crate::rollout::GroupCounters;
use crate::rollout::analysis::measure;
use crate::rollout::report::RolloutReport;
use crate::rollout::train::TrainCounters;
use crate::{Error, StoredRecord};
use assignment::contract::Role;
use canary_release::evidence::ProxyCoverage;
use canary_release::record::Record;
use canary_release::rollout::{RolloutObservation, VerbError};
use canary_release::state::ScaledDown;
use jiff::Timestamp;

/// The observation before anything is written.
pub(super) struct Found {
    pub(super) as_read: StoredRecord,
    /// The same with what was counted.
    pub(super) stored: StoredRecord,
    pub(super) observed: GroupCounters,
    pub(super) train: TrainCounters,
    /// Whether evidence, measurements or results of hooks were added to the record.
    pub(super) has_evidence: bool,
    pub(super) is_deployed: bool,
    pub(super) report: RolloutReport,
}

impl RolloutDriver<'_> {
    /// Reads the record, observes the cluster, and decides. Writes nothing.
    pub(super) async fn find(&mut self, now: Timestamp) -> Result<Found, Error> {
        let mut stored = Box::pin(self.cluster.records.get_sealed(&self.release)).await?;
        if stored.record.rollout.is_none() {
            return Err(VerbError::NotActive { found: "none".to_owned() }.into());
        }
        let as_read = stored.clone();
        let is_deployed = self.deployed.is_deployed(self.cluster, &self.release, &stored.record).await?;
        let analysis = self.metrics.as_ref().filter(|_| is_deployed);
        let (observed, train, measured) = tokio::join!(
            self.cluster.group_counters(&self.release, &stored.record, now),
            self.cluster.train_counters(&self.release, &stored.record),
            measure(analysis, &stored.record, now),
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
        let has_counts = interval.is_some_and(|interval| interval.add_to(&mut stored.record, now));
        let has_evidence = has_counts || has_train;
        let has_measured = stored.record.add_measurements(&measured, now);
        let has_called = self.hooks.record_results(&mut stored.record, now);
        let has_fused = stored.record.note_fuses(observed.fused, now);
        let has_counted = stored.record.note_stable_pods(stored.record.state.weight, observed.stable_pods);
        let none = || VerbError::NotActive { found: "none".to_owned() };
        let assessment = stored.record.assess_rollout(proxies, train_report, now).ok_or_else(none)?;
        let has_held = stored.record.note_held(&assessment, now);
        let has_evidence = has_evidence || has_measured || has_called || has_fused || has_counted || has_held;
        let record = stored.record.clone();
        let rollout = record.rollout.as_ref().ok_or_else(none)?;
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
}

/// Stable, where it has too few pods for the users who would come back.
fn scaled_down(record: &Record, observed: &GroupCounters, now: Timestamp) -> Option<ScaledDown> {
    let is_canary = |version: &str| record.state.version_of(Role::Canary) == Some(version);
    let ready = |version: &str| if is_canary(version) { observed.canary_pods } else { observed.stable_pods };
    record.scaled_down(ready, u64::try_from(now.as_second()).unwrap_or_default())
}
