//! A list of users against a schedule of weights: which users would be on the canary, and which move at each step.
//!
//! ```text
//! lines     bytes in large blocks  -> lines
//! field     line                   -> key (a whole line, or a field of an access log)
//! log_line  line                   -> format of the log, and what it calls client, user and cookies
//! head      the first bytes        -> whether the input is what it is said to be
//! census    key                    -> bucket, counted in a histogram of the 10 000 buckets
//! walk      histogram × weights      -> share, movers and verdict of every step; a step costs two look-ups
//! report    all of it              -> text, JSON or YAML
//! progress  bytes read             -> a bar, on a terminal
//! ```

mod census;
mod field;
mod head;
mod lines;
mod log_line;
mod progress;
mod report;
mod walk;
mod weight_schedule;

pub use census::{Census, Identifier, Rules};
pub use field::{Field, FieldError};
pub use head::{Head, HeadError};
pub use lines::MAX_LINE;
pub use log_line::LogFormat;
pub use progress::Progress;
pub use report::SimulationReport;
pub use walk::{Movement, Step, walk};
pub use weight_schedule::{WeightSchedule, WeightScheduleError};
