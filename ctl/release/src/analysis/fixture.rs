//! A metric of the tests.

use crate::spec::{MetricBounds, RolloutMetric, Seconds};

/// A latency, measured each minute; three failed measurements in a row are a failure. Of the canary's value this is expected.
pub(super) fn latency(canary: MetricBounds) -> RolloutMetric {
    RolloutMetric {
        name: "latency".to_owned(),
        interval: Seconds::MINUTE,
        failure_threshold: 3,
        canary,
        ratio: MetricBounds::default(),
        difference: MetricBounds::default(),
    }
}
