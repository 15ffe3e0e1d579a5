//! Proves the kit itself, so that a failing test of the filter can be trusted to be the filter's.

#![expect(
    clippy::expect_used,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod bootstrap;
mod client;
mod envoy;
mod fidelity;
mod host;
mod load;
mod mirror;
mod shop;
mod stats;
