//! Human-readable quantities for messages and reports.

use std::time::Duration;

/// A duration in the largest unit that keeps it readable: `0.14s`, `12s`, `3m`.
pub fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..10.0 => format!("{seconds:.2}s"),
        ..120.0 => format!("{seconds:.0}s"),
        _ => format!("{:.0}m", seconds / 60.0),
    }
}
