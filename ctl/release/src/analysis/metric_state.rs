//! The measurements of a metric since a step began, as the record keeps them: the last one, and how many in a row had its outcome.

use super::{Measurement, Outcome};
use crate::evidence::EvidenceVerdict;
use crate::spec::{RolloutMetric, Seconds};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A measurement that is later than this past its time is missing: drivers observe every ten to thirty seconds.
const LATENESS: SignedDuration = SignedDuration::from_mins(1);

/// The measurements of a metric since a step began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricState {
    /// When it was measured last.
    pub at: Timestamp,
    /// So many measurements in a row had the same outcome.
    pub in_a_row: u32,
    /// The last one.
    #[serde(flatten)]
    pub last: Measurement,
}

/// A metric of a rollout as it is printed: what is expected, and what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricReport {
    /// The expectation.
    #[serde(flatten)]
    pub metric: RolloutMetric,
    /// The measurements since the step began; `None` before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MetricState>,
}

impl MetricState {
    /// With a further measurement.
    pub(crate) fn followed_by(before: Option<&Self>, last: Measurement, at: Timestamp) -> Self {
        let same = before.filter(|before| before.last.outcome == last.outcome);
        Self { at, in_a_row: same.map_or(0, |before| before.in_a_row).saturating_add(1), last }
    }

    /// Whether the next measurement is due. Its window does not overlap with that of the last one, so that one bad minute is one measurement. Where
    /// the clock was far ahead it is due, too.
    pub(crate) fn is_due(&self, interval: Seconds, now: Timestamp) -> bool {
        let since = now.duration_since(self.at);
        since >= length(interval) || since <= -length(interval)
    }
}

impl MetricReport {
    /// The finding against the next step, if any.
    pub(crate) fn finding(&self, now: Timestamp) -> Option<(EvidenceVerdict, String)> {
        let state = self.measured.as_ref();
        let verdict = match state {
            None => EvidenceVerdict::Waiting,
            Some(state) => {
                match verdict_of(state.last.outcome, state.in_a_row, self.metric.failure_threshold) {
                    Some(verdict) => verdict,
                    None if self.is_old(state, now) => EvidenceVerdict::Waiting,
                    None => return None,
                }
            }
        };
        let age = state.filter(|state| state.last.outcome == Outcome::Passed);
        let missing = |state: &MetricState| {
            format!("metric `{}`: expected a measurement after {:.0}, found none", self.metric.name, state.at)
        };
        Some((verdict, age.map_or_else(|| self.to_string(), missing)))
    }

    fn is_old(&self, state: &MetricState, now: Timestamp) -> bool {
        now.duration_since(state.at) > length(self.metric.interval) * 2 + LATENESS
    }
}

impl fmt::Display for MetricReport {
    /// ``metric `latency`: expected at most 500, found 812, 2 of 3 times in a row; stable 120``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric: RolloutMetric { name, failure_threshold, .. }, measured } = self;
        write!(f, "metric `{name}`: ")?;
        let Some(MetricState { in_a_row, last: Measurement { outcome, reason, canary, stable }, .. }) =
            measured
        else {
            return f.write_str("not measured in this step yet");
        };
        let times = format!("{} of {failure_threshold} times in a row", in_a_row.min(failure_threshold));
        match outcome {
            Outcome::Failed => write!(f, "{reason}, {times}")?,
            Outcome::Unknown => return write!(f, "no result, {times}: {reason}"),
            Outcome::Passed => {
                let canary = canary.map(|canary| canary.to_string()).unwrap_or_default();
                write!(f, "passed, canary {canary}")?;
            }
        }
        match stable {
            Some(stable) if !reason.contains("stable") => write!(f, ", stable {stable}"),
            _ => Ok(()),
        }
    }
}

/// The verdict of outcomes in a row against the next step, if any. Without a result there is no rollback.
pub(crate) fn verdict_of(outcome: Outcome, in_a_row: u32, threshold: u32) -> Option<EvidenceVerdict> {
    let is_lasting = in_a_row >= threshold;
    match outcome {
        Outcome::Failed if is_lasting => Some(EvidenceVerdict::Rollback),
        Outcome::Failed => Some(EvidenceVerdict::Hold),
        Outcome::Unknown if is_lasting => Some(EvidenceVerdict::Hold),
        Outcome::Unknown => Some(EvidenceVerdict::Waiting),
        Outcome::Passed => None,
    }
}

fn length(interval: Seconds) -> SignedDuration {
    i64::try_from(interval.get()).map_or(SignedDuration::MAX, SignedDuration::from_secs)
}

#[cfg(test)]
#[path = "metric_state_tests.rs"]
mod tests;
