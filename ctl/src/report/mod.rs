//! The only code that prints: data to stdout in the requested form, messages and hints to stderr.

pub mod escape;
mod import;
mod paint;
mod plan;
mod printer;
mod table;
mod twin;

pub use import::ImportReport;
pub use paint::PaintedText;
pub use plan::PlanReport;
pub(crate) use printer::with_causes;
pub use printer::{Error, Format, Printer, Report};
pub use table::Table;
pub use twin::{TwinCheckReport, TwinDiffReport};
