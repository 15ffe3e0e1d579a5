//! A rollout on a cluster: what its proxies have counted, what follows from it, and what people ask of it.
//!
//! ```text
//! counters   what the proxies have counted by user group          Record        -> GroupCounters
//! deployment whether the objects have the state of the record     Record        -> bool
//! verbs      start, approve, pause, resume, retry, abort, promote RolloutVerb   -> StoredRecord
//! analysis   asks for the values of metrics that are due           Record        -> MeasurementResult
//! alerts     sends what the record says is to be sent             DueDelivery   -> requests
//! driver     reads the record, observes, decides, and writes      Record        -> RolloutReport
//! ```

mod alerts;
mod analysis;
mod counters;
mod deployment;
mod driver;
mod verbs;

pub use alerts::{AlertSender, FailedDelivery, SendError};
pub use analysis::MetricSource;
pub use counters::GroupCounters;
pub use driver::{RolloutDriver, RolloutReport};
