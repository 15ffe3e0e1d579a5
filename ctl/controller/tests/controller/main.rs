//! The controller against an API server in memory, without watches: an object is reconciled when a test says so. Watches, the Lease and the
//! real API server are in `wasm-tests/tests/api/controller.rs`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]
#![allow(dead_code, reason = "the operations' tests use more of their API server")]
#![allow(clippy::allow_attributes, reason = "which of it is unused differs")]

#[path = "../../../operations/tests/operations/fake_api/mod.rs"]
mod fake_api;
#[path = "../../../operations/tests/operations/fixture.rs"]
mod fixture;
mod killed;
mod object;
mod removed;
mod requests;
mod rollouts;
mod tenants;
