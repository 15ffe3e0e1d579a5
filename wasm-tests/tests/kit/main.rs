//! Proves the kit itself, so that a failing test of the filter can be trusted to be the filter's.

mod client;
mod envoy;
mod host;
mod jar;
mod load;
mod mirror;
mod stats;
