//! A rollout on a cluster: what its proxies have counted, what follows from it, and what people ask of it.
//!
//! ```text
//! counters   what the proxies have counted by user group          Record        -> GroupCounters
//! train      the same of the other releases of its train              Record        -> TrainCounters
//! baseline   what the next observation is compared with             GroupCounters -> Interval
//! dependencies  what the releases that it depends on have as stable   Rollout    -> DependencyState
//! deployment whether the objects have the state of the record     Record        -> bool
//! slower_than the percentile of stable's responses for `slowerThan`  RolloutSpec -> RolloutSpec
//! verbs      start, approve, pause, resume, retry, abort, promote RolloutVerb   -> StoredRecord
//! analysis   asks for the values of metrics that are due           Record        -> MeasurementResult
//! alerts     sends what the record says is to be sent             DueDelivery   -> requests
//! last_alerts sends what is left before the record is deleted  AlertOutbox   -> UndeliveredAlert
//! hooks      calls hooks                                          HookRequest   -> HookResult
//! promotion  promotes the release, and before it those of its train that follow it  Record -> Record
//! driver     reads the record, observes, decides, and writes      Record        -> RolloutReport
//! report     what it has observed, and done
//! send_error why an alert was not accepted
//! ```

mod alerts;
mod analysis;
mod baseline;
mod counters;
mod dependencies;
mod deployment;
mod driver;
mod hooks;
mod last_alerts;
mod promotion;
mod report;
mod send_error;
mod slower_than;
mod train;
mod verbs;

pub use alerts::AlertSender;
pub use analysis::MetricSource;
pub use counters::GroupCounters;
pub use driver::RolloutDriver;
pub use hooks::HookCaller;
pub use last_alerts::LastAlerts;
pub use report::RolloutReport;
pub use send_error::{FailedDelivery, SendError};
