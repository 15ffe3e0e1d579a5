//! The only code that prints: data to stdout in the form asked for, messages and hints to stderr.

mod paint;
mod plan;
mod printer;
mod table;

pub use paint::Paint;
pub use printer::{Error, Format, Printer, Report, usage};
pub use table::Table;

/// A duration as people say it: `0.14s`, `12s`, `3m`.
pub fn seconds(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..10.0 => format!("{seconds:.2}s"),
        ..120.0 => format!("{seconds:.0}s"),
        _ => format!("{:.0}m", seconds / 60.0),
    }
}
