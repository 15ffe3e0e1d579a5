//! `canary-ctl`'s objects in a real mesh: what `kubectl apply` makes of them, in real gateways and sidecars.
//!
//! One lab serves all tests of this program, but those that take istiod away; each has namespaces and a gateway of its own.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on says so by panicking, and figures are for people to read"
)]

mod admission;
mod apply;
mod clusters;
mod container_image;
mod coverage;
mod dashboard;
mod east_west;
mod faults;
mod five_minutes;
mod forgery;
mod keys;
mod module;
mod moves;
mod own_program;
mod position;
mod role_changes;
mod rollouts;
mod routes;
mod scale;
mod sessions;
mod support;
mod teams;
mod twins;
mod users;
mod weight;
