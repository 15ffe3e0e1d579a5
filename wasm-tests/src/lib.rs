//! The test kit: a host to run the built filter in, a real Envoy as a child process, and clients that behave like browsers.
//!
//! Which level to pick is in the crate's README; every level has an example there.

pub mod artifact;
pub mod child;
pub mod client;
pub mod envoy;
pub mod host;
pub mod lab;
pub mod scenario;
pub mod shop;
pub mod stats;

/// Compiles the examples in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
