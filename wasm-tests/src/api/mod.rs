//! Operators and owners of objects in front of a real API server: releases without pods.
//!
//! The mesh has such an API server too, so its tests use the same fixtures.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "fixtures of tests: they panic where the test cannot go on"
)]

pub mod dashboard_page;
pub mod fault_proxy;
pub mod kill;
pub mod object_owner;
pub mod rbac;
pub mod release_fixture;
