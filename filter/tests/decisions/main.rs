//! What the filter makes of requests and answers: decision, forwarding and reply together, without a proxy.
//!
//! Each test changes one thing of a fixture and looks at what became of the headers; `docs/decision-tests.md` says which
//! rule each one is for.

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
mod identities;
mod keys;
mod mesh;
mod minting;
mod overrides;
mod pins;
mod rows;
mod sessions;
mod stripping;
mod tokens;
