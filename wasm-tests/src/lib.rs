//! Scenarios of the tests, made of the kits in the crates of this folder: users, Envoys, a shop, a mesh.
//!
//! Which level to pick is in the crate's README; every level has an example there.

pub mod api;
pub mod chromium;
pub mod grpc;
pub mod mesh;
pub mod prometheus;
pub mod scenario;
pub mod shop;
pub mod stats;

/// Compiles the examples in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
