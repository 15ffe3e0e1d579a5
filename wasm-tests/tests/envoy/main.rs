//! Proves design §1's promises with the built filter, on the files that `canary-ctl` writes, under real Envoys.
//!
//! Which promise is proved where: `docs/tests.md`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod browsers;
mod caches;
mod chain;
mod crash;
mod deterministic;
mod doubt;
mod edits;
mod first_filter;
mod first_requests;
mod forgery;
mod fuses;
mod gateways;
mod monitoring;
mod older_sessions;
mod outage;
mod protocols;
mod response_ends;
mod returning;
mod roles;
mod routes;
mod session_walk;
mod support;
mod tokens;
mod trains;
mod updates;
mod user_walk;
