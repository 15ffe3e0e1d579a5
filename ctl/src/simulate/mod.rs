//! A list of users against a plan of weights: who would be on the canary, and who moves at which step.
//!
//! ```text
//! lines     bytes in large blocks  -> lines
//! field     line                   -> key (a whole line, or a field of an access log)
//! census    key                    -> bucket, counted in a histogram of the 10 000 buckets
//! walk      histogram × plan       -> share, movers and verdict of every step; a step costs two look-ups
//! share     counts                 -> interval and chi-square
//! report    all of it              -> what people and programs read
//! progress  bytes read             -> a bar, where somebody looks
//! ```

mod census;
mod field;
mod lines;
mod plan;
mod progress;
mod report;
pub(crate) mod share;
mod walk;

pub use census::{Census, Identifier, Rules};
pub use field::{Field, FieldError};
pub use lines::MAX_LINE;
pub use plan::{Plan, PlanError};
pub use progress::Progress;
pub use report::Report;
pub use walk::{Movement, Step, walk};
