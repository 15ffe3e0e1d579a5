//! The only code that prints: data to stdout in the requested form, messages and hints to stderr.

mod findings;
mod paint;
mod plan;
mod printer;
mod table;

pub use paint::Paint;
pub use plan::PlanReport;
pub use printer::{Error, Format, Printer, Report, usage};
pub use table::Table;
