//! `canary-ctl`'s objects in a real mesh: what `kubectl apply` makes of them, in real gateways and sidecars.
//!
//! One lab serves all tests of this program; each has namespaces and a gateway of its own.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod east_west;
mod gateway;
mod position;
mod support;
