//! The metrics of a rollout: which are measured now, and what they say of the next step. They count only while the users of the canary are those of
//! the step: before its first step testers alone are there, and at a weight that has expired nobody.

use super::Rollout;
use super::decision::{after, seconds};
use crate::analysis::{MeasuredValues, MetricReport, MetricState, QueryTemplate};
use crate::evidence::{Assessment, EvidenceVerdict, ProxyCoverage, TrainReport};
use crate::hook::HookReport;
use crate::record::Record;
use crate::spec::{HookType, RolloutMetric};
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;

/// The queries of a metric that is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementRequest {
    /// Its name.
    pub metric: String,
    /// The query for the canary.
    pub canary: String,
    /// The same for stable, where the query tells versions apart and stable has users.
    pub stable: Option<String>,
}

/// What they have found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementResult {
    /// The name of the metric.
    pub metric: String,
    /// The values.
    pub values: MeasuredValues,
}

impl Record {
    /// What is to be measured now: a metric whose interval has passed since it was measured, or since the step began. So no measurement is about
    /// the time before the step.
    pub fn measurement_requests(&self, now: Timestamp) -> Vec<MeasurementRequest> {
        let Some(rollout) = self.measured_rollout(now) else { return Vec::new() };
        let stable = self.state.version_of(Role::Stable);
        let is_due = |metric: &&RolloutMetric| rollout.is_due(metric, now);
        let request = |metric: &RolloutMetric| {
            let query = QueryTemplate(&metric.query);
            let of_stable = stable.filter(|_| self.state.weight != Weight::FULL && query.names_version());
            MeasurementRequest {
                metric: metric.name.clone(),
                canary: query.for_version(&rollout.canary),
                stable: of_stable.map(|version| query.for_version(version)),
            }
        };
        rollout.metrics.iter().filter(is_due).map(request).collect()
    }

    /// Adds what was measured. Whether there was anything to add.
    pub fn add_measurements(&mut self, results: &[MeasurementResult], now: Timestamp) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let mut has_changed = false;
        for MeasurementResult { metric: name, values } in results {
            let Some(metric) = rollout.metrics.iter().find(|metric| metric.name == *name) else { continue };
            let state = MetricState::followed_by(rollout.measured.get(name), metric.measure(values), now);
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

impl Rollout {
    /// Its metrics, each with what was measured of it.
    fn metric_reports(&self) -> impl Iterator<Item = MetricReport> {
        self.metrics.iter().map(|metric| MetricReport {
            metric: metric.clone(),
            measured: self.measured.get(&metric.name).cloned(),
        })
    }

    fn is_due(&self, metric: &RolloutMetric, now: Timestamp) -> bool {
        if let Some(state) = self.measured.get(&metric.name) {
            return state.is_due(metric.interval, now);
        }
        now >= after(self.step_since(), metric.interval)
    }
}
