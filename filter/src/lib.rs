//! The Proxy-Wasm filter: headers in, decision, header edits out.
//!
//! What decides is the crate `assignment`, shared with the CLI; here is what a proxy does with a decision; the module for
//! Envoy is the crate `canary-wasm`, the only code that knows Proxy-Wasm. The modules in the order in which a request meets
//! them:
//!
//! ```text
//! by_number  what a request's contexts are kept in
//! forward    decision -> edits of the request's headers
//! baggage    the same for the second carrier of decisions to the next services
//! reply      decision + answer -> edits of the answer's headers, and what it was worth
//! labels     decision -> names of metrics, texts for logs
//! edit       the edits themselves, as the module carries them out
//! ```
//!
//! Nothing here panics and nothing fails a request: a trap in Wasm takes every request in flight on that worker with it.

mod baggage;
mod by_number;
pub mod edit;
pub mod forward;
pub mod labels;
pub mod reply;

pub use by_number::ByNumber;
