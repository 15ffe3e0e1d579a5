//! Requests and responses through the filter: decision, request edits and response edits together, without a proxy.
//!
//! Each test changes one thing of a fixture and checks the resulting headers; `docs/decision-tests.md` lists the rule
//! of each test.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod fixture;

mod baggage;
mod caching;
mod conflicts;
mod ends;
mod fuses;
mod identities;
mod keys;
mod mesh;
mod minting;
mod overrides;
mod pins;
mod rollouts;
mod rows;
mod session_pins;
mod sessions;
mod stripping;
mod tokens;
