//! The test kit: a Proxy-Wasm host to run the built filter in, a real Envoy as a child process, and a client that behaves like browsers.
//!
//! Which level to pick is in the crate's README; every level has an example there.

pub mod artifact;
pub mod client;
pub mod envoy;
pub mod host;
pub mod stats;
