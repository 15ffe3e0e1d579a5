//! When the metrics of a rollout are due, and their reports. They count only while the users of the canary are those of the step: before the first step
//! only testers are there, and at an expired weight no user is.

use super::Rollout;
use super::decision::after;
use crate::analysis::{MeasuredValues, MetricReport};
use crate::prometheus::QueryError;
use crate::spec::{MetricQuery, QueryTemplate, RolloutMetric};
use jiff::Timestamp;

/// A metric that is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementRequest {
    /// Its name.
    pub metric: String,
    /// The queries, or the error for which there are none.
    pub queries: Result<MeasurementQueries, QueryError>,
}

/// The queries of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementQueries {
    /// The query for the canary.
    pub canary: String,
    /// The same for stable, where the query tells versions apart and stable has users.
    pub stable: Option<String>,
}

/// Their result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementResult {
    /// The name of the metric.
    pub metric: String,
    /// The values, or why nothing was asked.
    pub values: Result<MeasuredValues, QueryError>,
}

impl MeasurementQueries {
    /// Those of a metric of a file: for stable as well, where it is given and the query tells versions apart.
    ///
    /// # Errors
    ///
    /// If a version is no label value.
    pub fn new(query: &MetricQuery, canary: &str, stable: Option<&str>) -> Result<Self, QueryError> {
        let template = QueryTemplate(&query.template);
        let stable = stable.filter(|_| template.names_version());
        Ok(Self {
            canary: template.for_version(canary)?,
            stable: stable.map(|version| template.for_version(version)).transpose()?,
        })
    }

    /// All of them, the canary's first.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        [&self.canary].into_iter().chain(&self.stable)
    }
}

impl Rollout {
    /// Its metrics, each with what was measured of it.
    pub(crate) fn metric_reports(&self) -> impl Iterator<Item = MetricReport> {
        self.metrics.iter().map(|metric| MetricReport {
            metric: metric.clone(),
            measured: self.measured.get(&metric.name).cloned(),
        })
    }

    pub(crate) fn is_due(&self, metric: &RolloutMetric, now: Timestamp) -> bool {
        if let Some(state) = self.measured.get(&metric.name) {
            return state.is_due(metric.interval, now);
        }
        now >= after(self.step_since(), metric.interval)
    }
}
