//! Simulated clients of a release in a rollout, second by second: what the proxies count of them, and what the product's own code decides.
//!
//! It was written from the description of the traffic with which reviewers from outside have examined the test of a canary, and shares
//! nothing with the simulation behind `docs/evidence.md`. Who changes the test should not change this model for it.
//!
//! ```text
//! behaviour    how a version responds: chances of each kind of failure
//! scenario     clients, both versions, plan                                    the input
//! clients      when each client sends a request                Scenario        -> requests
//! service      both versions and the proxies before them       request         -> counters
//! episodes     pauses of pods, blips of a database
//! counters     what the proxies count, as an observation finds it
//! baseline     two observations and their interval               ReleaseCounters -> IntervalCounts
//! driver       the product's rollout, in the order of its driver   counters    -> decisions
//! simulation   one rollout                                     Scenario, seed  -> RolloutOutcome
//! summary      many rollouts of a row                          Row             -> Summary
//! rows         the table of scenarios, with what is expected of each
//! ```
//!
//! Not simulated: the fuse, restarts, hooks, metrics, trains, proxies that restart, and the time that a configuration takes to the proxies.

mod baseline;
mod behaviour;
mod clients;
mod counters;
mod driver;
mod episodes;
mod error;
mod random;
mod rows;
mod scenario;
mod service;
mod simulation;
mod summary;

pub use behaviour::{Behaviour, ByAge, ColdStart, Leak, Pauses, Pods, Unlucky};
pub use counters::INTERVAL;
pub use driver::FinalState;
pub use error::ModelError;
pub use random::Pareto;
pub use rows::{Expected, Row, rows};
pub use scenario::{Bots, Counting, Judged, LongResponses, PlanStep, Population, Scenario};
pub use simulation::{RolloutOutcome, simulate};
pub use summary::{Summary, run, run_on};
