//! One measurement: the values of both versions beside what is expected of them.

use crate::prometheus::QueryError;
use crate::spec::{FiniteNumber, MetricBounds, RolloutMetric};
use serde::{Deserialize, Serialize};

/// The values that the queries of a metric have found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredValues {
    /// Of the canary.
    pub canary: Result<FiniteNumber, QueryError>,
    /// Of stable; `None` where it was not asked for.
    pub stable: Option<Result<FiniteNumber, QueryError>>,
}

/// The outcome of a measurement for the canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Its value is as expected.
    Passed,
    /// It is not.
    Failed,
    /// There is no value to say it.
    Unknown,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measurement {
    /// Its outcome.
    pub outcome: Outcome,
    /// The expected and the found value, if it has not passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The canary's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<FiniteNumber>,
    /// Stable's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stable: Option<FiniteNumber>,
}

impl Measurement {
    pub(crate) const fn without_value(reason: String) -> Self {
        Self { outcome: Outcome::Unknown, reason, canary: None, stable: None }
    }
}

impl RolloutMetric {
    /// The measurement by these values. Stable is compared if that was asked for.
    pub fn measure(&self, values: &MeasuredValues) -> Measurement {
        let (outcome, reason) = match self.check(values) {
            Ok(None) => (Outcome::Passed, String::new()),
            Ok(Some(reason)) => (Outcome::Failed, reason),
            Err(reason) => (Outcome::Unknown, reason),
        };
        let stable = values.stable.as_ref().and_then(|stable| stable.as_ref().ok()).copied();
        Measurement { outcome, reason, canary: values.canary.as_ref().ok().copied(), stable }
    }

    /// The expectation that is not met, or the reason for which it is not known. One that is not met is enough, whatever is not known.
    fn check(&self, values: &MeasuredValues) -> Result<Option<String>, String> {
        let canary = values.canary.as_ref().map_err(|error| format!("the canary: {error}"))?.get();
        if let Some(expected) = self.canary.missed(canary) {
            return Ok(Some(format!("expected {expected}, found {}", shown(canary))));
        }
        let Some(stable) = values.stable.as_ref().filter(|_| self.compares()) else { return Ok(None) };
        let stable = stable.as_ref().map_err(|error| format!("stable: {error}"))?.get();
        let found = |what: &str, expected: String, value: f64| {
            format!(
                "expected a {what} to stable of {expected}, found {}: canary {}, stable {}",
                shown(value),
                shown(canary),
                shown(stable)
            )
        };
        let difference = canary - stable;
        if let Some(expected) = self.difference.missed(difference) {
            return Ok(Some(found("difference", expected, difference)));
        }
        // Equal values have a ratio of 1, also where both are 0.
        let ratio = if difference == 0.0 { 1.0 } else { canary / stable };
        if self.ratio.is_empty() {
            return Ok(None);
        }
        if !ratio.is_finite() || stable < 0.0 {
            return Err(format!(
                "expected a value of stable above 0 for the ratio, found {}: canary {}",
                shown(stable),
                shown(canary)
            ));
        }
        Ok(self.ratio.missed(ratio).map(|expected| found("ratio", expected, ratio)))
    }
}

impl MetricBounds {
    /// The bound that a value does not keep, in words.
    fn missed(&self, value: f64) -> Option<String> {
        let min = self.min.filter(|min| value < min.get()).map(|min| format!("at least {min}"));
        min.or_else(|| self.max.filter(|max| value > max.get()).map(|max| format!("at most {max}")))
    }
}

fn shown(value: f64) -> String {
    FiniteNumber::new(value).map_or_else(|| value.to_string(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::latency;

    fn bounds(min: Option<f64>, max: Option<f64>) -> MetricBounds {
        let number = |number: Option<f64>| number.and_then(FiniteNumber::new);
        MetricBounds { min: number(min), max: number(max) }
    }

    fn metric(canary: MetricBounds, ratio: MetricBounds, difference: MetricBounds) -> RolloutMetric {
        RolloutMetric { ratio, difference, ..latency(canary) }
    }

    const ANY: MetricBounds = MetricBounds { min: None, max: None };

    fn measured(metric: &RolloutMetric, canary: f64, stable: Option<f64>) -> (Outcome, String) {
        let value = |value| FiniteNumber::new(value).ok_or(QueryError::Empty);
        let values = MeasuredValues { canary: value(canary), stable: stable.map(value) };
        let measurement = metric.measure(&values);
        (measurement.outcome, measurement.reason)
    }

    #[test]
    fn a_value_at_the_bound_is_as_expected_and_beyond_it_is_not() {
        let metric = metric(bounds(Some(1.0), Some(500.0)), ANY, ANY);
        for passes in [1.0, 500.0] {
            assert_eq!(measured(&metric, passes, None), (Outcome::Passed, String::new()));
        }
        let (outcome, reason) = measured(&metric, 812.5, Some(120.0));
        assert_eq!((outcome, reason.as_str()), (Outcome::Failed, "expected at most 500, found 812.5"));
        let (outcome, reason) = measured(&metric, 0.5, None);
        assert_eq!((outcome, reason.as_str()), (Outcome::Failed, "expected at least 1, found 0.5"));
    }

    #[test]
    fn the_canary_is_compared_with_stable_by_ratio_and_by_difference() {
        let ratio = metric(ANY, bounds(None, Some(1.3)), ANY);
        assert_eq!(measured(&ratio, 130.0, Some(100.0)).0, Outcome::Passed);
        let (outcome, reason) = measured(&ratio, 150.0, Some(100.0));
        let expected = "expected a ratio to stable of at most 1.3, found 1.5: canary 150, stable 100";
        assert_eq!((outcome, reason.as_str()), (Outcome::Failed, expected));
        let difference = metric(ANY, ANY, bounds(Some(-0.5), None));
        assert_eq!(measured(&difference, 99.0, Some(99.5)).0, Outcome::Passed);
        let (outcome, reason) = measured(&difference, 98.0, Some(99.5));
        let expected = "expected a difference to stable of at least -0.5, found -1.5: canary 98, stable 99.5";
        assert_eq!((outcome, reason.as_str()), (Outcome::Failed, expected));
    }

    #[test]
    fn a_ratio_to_nothing_is_unknown_unless_both_are_nothing() {
        let metric = metric(ANY, bounds(None, Some(2.0)), ANY);
        assert_eq!(measured(&metric, 0.0, Some(0.0)).0, Outcome::Passed);
        let (outcome, reason) = measured(&metric, 0.1, Some(0.0));
        let expected = "expected a value of stable above 0 for the ratio, found 0: canary 0.1";
        assert_eq!((outcome, reason.as_str()), (Outcome::Unknown, expected));
        assert_eq!(measured(&metric, 1.0, Some(-1.0)).0, Outcome::Unknown);
    }

    #[test]
    fn what_is_not_known_is_no_verdict_and_what_is_known_to_be_wrong_is_one_without_it() {
        let both = metric(bounds(None, Some(500.0)), bounds(None, Some(1.3)), ANY);
        let unknown = |canary, stable| measured(&both, canary, stable);
        assert_eq!(unknown(f64::NAN, Some(1.0)).0, Outcome::Unknown);
        let (outcome, reason) = unknown(100.0, Some(f64::NAN));
        let expected = "stable: expected one value, found none";
        assert_eq!((outcome, reason.as_str()), (Outcome::Unknown, expected));
        assert_eq!(unknown(900.0, Some(f64::NAN)).0, Outcome::Failed);
        assert_eq!(unknown(100.0, None).0, Outcome::Passed, "stable was not asked for");
        let alone = metric(bounds(None, Some(500.0)), ANY, ANY);
        assert_eq!(measured(&alone, 100.0, Some(f64::NAN)).0, Outcome::Passed, "stable is shown alone");
    }
}
