//! The time, as this worker read it last: with each configuration, and then once a second.
//!
//! Pins, ids and tokens live for minutes at least and a release's `until` is a second's number, so a time that is up to a
//! second old decides as well as one that costs every request a host call.

use crate::abi;
use std::cell::Cell;

const NANOSECONDS: u64 = 1_000_000_000;

thread_local! {
    /// (A VM has one thread.)
    static NOW_SECONDS: Cell<u64> = const { Cell::new(0) };
}

/// Reads the proxy's clock.
pub(crate) fn update() {
    NOW_SECONDS.set(abi::now_nanoseconds() / NANOSECONDS);
}

/// Seconds since 1970-01-01 UTC, up to a second ago.
pub(crate) fn now_seconds() -> u64 {
    NOW_SECONDS.get()
}
