//! The time, as this worker read it last: with each configuration, and then once a second.
//!
//! Pins, ids and tokens live for minutes at least and a release's `until` is a second's number, so a time that is up to a
//! second old decides as well as one that costs every request a host call.

use crate::abi;
use std::cell::Cell;

pub(crate) const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;
const MILLISECONDS: u64 = 1_000;

thread_local! {
    /// (A VM has one thread.)
    static NOW_SECONDS: Cell<u64> = const { Cell::new(0) };
}

/// Reads the proxy's clock. Returns what it showed, in milliseconds since 1970-01-01 UTC.
pub(crate) fn update() -> u64 {
    let milliseconds = read_milliseconds();
    NOW_SECONDS.set(milliseconds / MILLISECONDS);
    milliseconds
}

/// Milliseconds since 1970-01-01 UTC, now: a host call, for what is rare.
pub(crate) fn read_milliseconds() -> u64 {
    abi::now_nanoseconds() / NANOSECONDS_PER_MILLISECOND
}

/// Seconds since 1970-01-01 UTC, up to a second ago.
pub(crate) fn now_seconds() -> u64 {
    NOW_SECONDS.get()
}
