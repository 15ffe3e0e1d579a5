//! The built filter in the host: the decision table through the ABI, configurations, metrics, odd input, and what it costs.
//!
//! What decides is proven natively (`filter/tests/decisions`); here is what only the module can get wrong: reading the
//! proxy's maps, edits by host calls, several roots, memory, instructions.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod fixture;

mod abi;
mod configuration;
mod contexts;
mod cost;
mod fuses;
mod lost_sessions;
mod metrics;
mod odd_input;
mod response_ends;
mod responses;
mod rows;
mod runtime;
mod scale;
