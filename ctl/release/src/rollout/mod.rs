//! A rollout that goes by itself: from the first step of its plan to a promotion, or back.
//!
//! The machine is a function of the record, of what was observed and of the time; it has no state of its own. So whoever
//! calls it may be killed anywhere, and two may call it at once: what they write is conditional on the record that they read.
//!
//! ```text
//! state         the rollout of a release, as its record keeps it
//! start         a plan of the file becomes a rollout   RolloutSpec, time            -> Record
//! verbs         what people do to it: approve, pause, resume, retry, abort, promote
//! decision      what a decision is made of, and what it says
//! machine       what to do next, and why              Rollout, observation, time   -> Decision
//! analysis      which metrics are measured now, and what they say  Record, queries, time -> MeasurementRequest
//! forecast      what the traffic of a step can show   Rollout, time                -> RolloutForecast
//! dependency    whether the releases that it depends on are at their versions  Decision, observation -> Decision
//! train         what is kept of the other releases of the train   Record, observation -> Record
//! fuse          what an open fuse of the canary means for it     Rollout, observation -> Decision
//! hooks         which hooks are called, and what they let it do     Record, decision   -> HookRequest
//! window        when it may raise the weight            Decision, time              -> Decision
//! transition    the same, done to the record          Record, action               -> Record
//! alerts        which transitions people are told of  Record, decision             -> Alert
//! ```

mod alerts;
mod analysis;
pub(crate) mod decision;
mod dependency;
mod forecast;
mod fuse;
mod hooks;
mod machine;
pub(crate) mod state;
mod train;
mod verbs;
mod window;

pub use alerts::AlertState;
pub use analysis::{MeasurementQueries, MeasurementRequest, MeasurementResult};
pub use decision::{CanaryRole, Decision, RolloutAction, RolloutObservation, RolloutPhase};
pub use dependency::DependencyState;
pub use forecast::RolloutForecast;
pub use state::{Ending, Rollout, RolloutEnd, Suspension};
pub use train::{InnerIntervals, InnerRelease, MAX_INNER_RELEASES};
pub use verbs::{RolloutVerb, VerbError};
