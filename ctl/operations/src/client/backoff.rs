//! How long to wait before a write that another one has overtaken is made again.

use std::time::Duration;

/// Other releases can write the same object in between; so many conflicts in a row are a loop of another client.
pub(crate) const MAX_CONFLICTS: u32 = 8;

/// Exponential with jitter: 20 to 40 ms at first, 0.6 to 1.3 s from the sixth attempt on.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let mut byte = [0];
    // Without randomness two clients may meet again; the next attempt survives that.
    getrandom::fill(&mut byte).ok();
    let [jitter] = byte;
    let base = 20_u64 << attempt.min(5);
    Duration::from_millis(base + base * u64::from(jitter) / 256)
}
