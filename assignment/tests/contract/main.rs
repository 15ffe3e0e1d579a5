//! The contract between `canary-ctl` and the filter: what is read, what is refused and in which place, what matches.

mod config;
mod hosts;
mod reading;
mod refusals;
