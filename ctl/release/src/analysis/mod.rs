//! Analysis by the values of queries: a second source beside the evidence of the proxies' own counters.
//!
//! A threshold has no error rate of its own, so a canary has failed when several measurements in a row have. A measurement without a result
//! (no server, an error, no series, NaN) is none: it lets no rollout go on, and ends none.
//!
//! ```text
//! measurement   the values of both versions beside what is expected    RolloutMetric       -> Measurement
//! metric_state  measurements in a row, as the record keeps them        Measurement         -> finding
//! ```

#[cfg(test)]
mod fixture;
mod measurement;
mod metric_state;

pub use measurement::{MeasuredValues, Measurement, Outcome};
pub(crate) use metric_state::verdict_of;
pub use metric_state::{MetricReport, MetricState};
