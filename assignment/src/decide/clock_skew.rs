//! Clocks of proxies differ: how far one may be ahead of another.

/// The largest difference between two clocks that is believed, in seconds.
pub const MAX_CLOCK_SKEW_SECONDS: u64 = 300;

/// Whether a seal was issued later than any believable clock can say. It would live longer than it may, and outlive a
/// revocation.
pub const fn is_ahead(issued: u64, now: u64) -> bool {
    issued > now.saturating_add(MAX_CLOCK_SKEW_SECONDS)
}
