//! The only code that prints: data to stdout in the form asked for, messages and hints to stderr.

mod printer;
mod table;

pub use printer::{Error, Format, Printer, Report, usage};
pub use table::Table;
