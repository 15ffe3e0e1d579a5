//! The controller against an API server in memory, without watches: an object is reconciled when a test says so. Watches, the Lease and the
//! real API server are in `wasm-tests/tests/api/controller.rs`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod beside_http_routes;
mod clocks;
mod gitops;
mod killed;
mod many;
mod object;
mod previews;
mod problems;
mod removed;
mod requests;
mod rollouts;
mod tenants;
mod versions;
