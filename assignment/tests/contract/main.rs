//! The contract between `canary-ctl` and the filter: what is read, what is refused and in which place, what matches.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod config;
mod hosts;
mod reading;
mod refusals;
