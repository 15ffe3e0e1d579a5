//! The Proxy-Wasm filter: headers in, decision, header edits out.
//!
//! What decides is the crate `assignment`, shared with the CLI; here is what a proxy does with a decision. The modules
//! in the order in which a request meets them:
//!
//! ```text
//! rim        the only code that knows Proxy-Wasm: contexts, host calls      (wasm32 only)
//! forward    decision -> edits of the request's headers
//! baggage    the same for the second carrier of decisions to the next services
//! reply      decision + answer -> edits of the answer's headers, and what it was worth
//! labels     decision -> names of metrics, texts for logs
//! edit       the edits themselves, as the rim carries them out
//! ```
//!
//! Nothing here panics and nothing fails a request: a trap in Wasm takes every request in flight on that worker with it.

mod baggage;
pub mod edit;
pub mod forward;
pub mod labels;
pub mod reply;

#[cfg(target_arch = "wasm32")]
mod rim;
