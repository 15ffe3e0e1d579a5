//! An automated rollout: from the first step of its plan to a promotion, or back.
//!
//! The machine is a function of the rollout, of what was observed and of the time; it has no state of its own and knows no record. So a
//! driver may be killed anywhere, and two may call it at once: what they write is conditional on the record that they read.
//!
//! ```text
//! state         the rollout of a release, as its record keeps it
//! decision      what a decision is made of, and what it says
//! driver        the process that drives it             kind, host, time              -> Driver
//! machine       the table of rows and of conditions   Rollout, observation, time       -> Decision
//! stable_pods   condition: pods of stable              step, observation                -> Decision
//! window        condition: time windows                step, time                       -> Decision
//! dependency    condition: versions of other releases  step, observation                -> Decision
//! hooks         condition: responses of hooks          step, time                       -> Decision
//! fuse          row: an open fuse of the canary        Rollout, observation, time       -> Decision
//! max_held      row: a hold that lasts too long        Rollout, observation, time       -> Decision
//! verbs         approve, pause, resume, retry, abort, promote
//! analysis      metrics: when they are due             RolloutMetric, time              -> Measurement
//! forecast      what the traffic of a step can show    Rollout, time                    -> RolloutForecast
//! train         the other releases of the train        intervals                        -> Evidence
//! failure_timeline  failures of both versions over time   Evidence, time               -> FailureInterval
//! alerts        receivers, kinds that were sent, counts    Rollout                      -> KindCounts
//! ```

mod alerts;
mod analysis;
pub(crate) mod decision;
mod dependency;
mod driver;
mod failure_timeline;
mod forecast;
mod fuse;
mod hooks;
mod machine;
mod max_held;
mod stable_pods;
pub(crate) mod state;
mod train;
mod verbs;
mod window;

pub use alerts::AlertState;
pub use analysis::{MeasurementQueries, MeasurementRequest, MeasurementResult};
pub use decision::{CanaryRole, Decision, RolloutAction, RolloutObservation, RolloutPhase};
pub use dependency::DependencyState;
pub use driver::{DRIVER_TIMEOUT, Driver, DriverKind};
pub use failure_timeline::{FailureInterval, FailureTimeline};
pub use forecast::RolloutForecast;
pub(crate) use fuse::FUSE_STAYS_CLOSED;
pub use state::{Ending, Rollout, RolloutEnd, Suspension};
pub use train::{InnerIntervals, InnerRelease, MAX_INNER_RELEASES};
pub use verbs::{RolloutVerb, VerbError};
