//! Proves the kit itself, so that a failing test of the filter can be trusted to be the filter's.

mod bootstrap;
mod client;
mod envoy;
mod fidelity;
mod host;
mod jar;
mod load;
mod mirror;
mod stats;
