//! Measurements in the record of a release: which are made now, and what they add to the assessment.
//!
//! The record has what is expected of each metric; the queries are those of the driver's file, by the names of the metrics.

use crate::analysis::{Measurement, MetricState};
use crate::assessment::Assessment;
use crate::evidence::{EvidenceVerdict, ProxyCoverage, TrainReport};
use crate::hook::HookReport;
use crate::prometheus::QueryError;
use crate::record::Record;
use crate::rollout::decision::seconds;
use crate::rollout::{MeasurementQueries, MeasurementRequest, MeasurementResult, Rollout};
use crate::spec::{HookType, MetricQuery, RolloutMetric};
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;
use std::collections::BTreeMap;

impl Record {
    /// The measurements that are due: a metric whose interval has passed since it was measured, or since the step began. So no measurement is about
    /// the time before the step. The queries are those of the driver's file.
    pub fn measurement_requests(
        &self,
        queries: &BTreeMap<String, MetricQuery>,
        now: Timestamp,
    ) -> Vec<MeasurementRequest> {
        let Some(rollout) = self.measured_rollout(now) else { return Vec::new() };
        let is_due = |metric: &&RolloutMetric| rollout.is_due(metric, now);
        let request = |metric: &RolloutMetric| MeasurementRequest {
            metric: metric.name.clone(),
            queries: self.queries_of(rollout, metric, queries.get(&metric.name)),
        };
        rollout.metrics.iter().filter(is_due).map(request).collect()
    }

    fn queries_of(
        &self,
        rollout: &Rollout,
        metric: &RolloutMetric,
        query: Option<&MetricQuery>,
    ) -> Result<MeasurementQueries, QueryError> {
        let query = query.ok_or_else(|| QueryError::NotInFile(metric.name.clone()))?;
        if query.interval != metric.interval {
            let (name, expected, found) = (metric.name.clone(), metric.interval, query.interval);
            return Err(QueryError::OtherInterval { name, expected, found });
        }
        let stable = self.state.version_of(Role::Stable).filter(|_| self.state.weight != Weight::FULL);
        MeasurementQueries::new(query, &rollout.canary, stable)
    }

    /// Adds what was measured. Whether there was anything to add.
    pub fn add_measurements(&mut self, results: &[MeasurementResult], now: Timestamp) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let mut has_changed = false;
        for MeasurementResult { metric: name, values } in results {
            let Some(metric) = rollout.metrics.iter().find(|metric| metric.name == *name) else { continue };
            let last = match values {
                Ok(values) => metric.measure(values),
                Err(error) => Measurement::without_value(error.to_string()),
            };
            let state = MetricState::followed_by(rollout.measured.get(name), last, now);
            rollout.measured.insert(name.clone(), state);
            has_changed = true;
        }
        has_changed
    }

    /// Assesses what was counted and measured so far: the worst verdict counts, and of equal ones that of the proxies' counters is told.
    /// `None` without a rollout.
    pub fn assess_rollout(
        &self,
        proxies: ProxyCoverage,
        train: TrainReport,
        now: Timestamp,
    ) -> Option<Assessment> {
        let rollout = self.rollout.as_ref()?;
        let mut assessment = rollout.assess(proxies, train);
        assessment.metrics = rollout.metric_reports().collect();
        let is_called = |report: &HookReport| {
            report.state.is_some() || matches!(report.hook.kind, HookType::Rollout | HookType::Rollback)
        };
        assessment.hooks = rollout.hook_reports().filter(is_called).collect();
        if self.measured_rollout(now).is_none() {
            return Some(assessment);
        }
        let of_metrics = assessment.metrics.iter().filter_map(|metric| metric.finding(now));
        let of_hooks = assessment.hooks.iter().filter_map(|hook| hook.finding(now));
        let findings: Vec<(EvidenceVerdict, String)> = of_metrics.chain(of_hooks).collect();
        for (verdict, reason) in findings {
            if verdict > assessment.verdict {
                (assessment.verdict, assessment.reason) = (verdict, reason);
            }
        }
        if assessment.verdict == EvidenceVerdict::Advance {
            for metric in &assessment.metrics {
                assessment.reason = format!("{}; {metric}", assessment.reason);
            }
            for hook in assessment.hooks.iter().filter(|report| report.hook.kind == HookType::Rollout) {
                assessment.reason = format!("{}; {hook}", assessment.reason);
            }
        }
        Some(assessment)
    }

    /// The rollout, where the users of the canary are those of its step; one that only observes has no steps.
    pub(super) fn measured_rollout(&self, now: Timestamp) -> Option<&Rollout> {
        let rollout =
            self.rollout.as_deref().filter(|rollout| rollout.is_active() && rollout.ending.is_none())?;
        let weight = self.state.weight;
        let is_expired = self.state.until.is_some_and(|until| seconds(now) >= until.at_seconds);
        let is_of_step =
            rollout.policy.observe || rollout.current().is_some_and(|step| step.weight == weight);
        let is_canary = self.state.version_of(Role::Canary) == Some(rollout.canary.as_str());
        (weight > Weight::ZERO && is_of_step && is_canary && !is_expired).then_some(rollout)
    }
}
