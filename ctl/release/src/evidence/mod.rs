//! Evidence about the canary: do its users get more failed responses than those of stable, at the same time?
//!
//! Requests of one user fail together, the test is read all the time, and both versions share databases. So the test
//! is sequential (reading it often raises no error rate), compares both versions within the same interval, and counts
//! users by 16 groups. What one group says is bounded, so that no group alone can convict the canary, and none can clear it.
//!
//! ```text
//! counts            responses of a version by user group
//! proxy_counters    what each proxy counted between two observations      counters             -> IntervalCounts
//! group_counters    what a proxy counts by user group in a rollout       ProxyMetrics         -> ReleaseCounters
//! log_ratio         a log-likelihood ratio in whole numbers
//! rate_comparison   the difference and the ratio of both rates
//! group_ratios      what the failures of each user group say, and all of them together
//! sequential_test   how much likelier the counts are if the canary fails more
//! spread            how much more failures cluster by user than chance explains
//! restarts          containers of both versions that were restarted          PodRestarts          -> RestartCounts
//! kinds             one test for each kind of failure, kept in the record IntervalCounts      -> Evidence
//! lost_sessions     the evidence of lost sessions, and which counter has them
//! criteria          what a rollout demands, and what a kind of failure says  Evidence         -> KindNumbers
//! train             the same of the other releases of a train, and what was observed of them
//! forecast          what a rate of traffic can show, and how long it takes
//! ```
//!
//! # Source
//! M. Lindon, C. Sanden and V. Shirikian, "Rapid regression detection in software deployments through sequential
//! testing", KDD 2022; for clustered counts P. `McCullagh` and J. Nelder, "Generalized linear models", chapter 9.
//! How often it is wrong, and how soon right: `docs/evidence.md`.

mod counts;
mod criteria;
mod forecast;
mod group_counters;
mod group_ratios;
mod kinds;
mod log_ratio;
mod lost_sessions;
mod proxy_counters;
mod rate_comparison;
mod restarts;
mod sequential_test;
mod spread;
mod train;

pub use counts::{GROUPS, GroupCounts, ResponseCount, VersionCounts};
pub use criteria::{Criteria, EvidenceVerdict, KindNumbers, ProxyCoverage};
pub(crate) use criteria::{Found, percent};
pub use forecast::Forecast;
pub use kinds::{Evidence, FailureKind, KindEvidence};
pub use log_ratio::LogRatio;
use log_ratio::{mean_of_exp, sum_of_exp};
pub use proxy_counters::{IntervalCounts, ProxyCounters, ReleaseCounters};
pub use rate_comparison::RateRatio;
pub use restarts::{PodRestarts, RestartCount, RestartCounts};
pub use sequential_test::SequentialTest;
pub use train::{InnerEvidence, InnerReport, TrainReport};
