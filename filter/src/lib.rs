//! The Proxy-Wasm filter: headers in, decision, header edits out.
//!
//! What decides is the crate `assignment`, shared with the CLI; here is what a proxy does with a decision; the module
//! for Envoy is the crate `canary-wasm`, the only code that uses Proxy-Wasm. The modules in the order in which a
//! request meets them:
//!
//! ```text
//! context_map  a map by Proxy-Wasm context id; here, so that its tests run natively
//! forward      decision -> edits of the request's headers
//! baggage      the same for the second carrier of decisions to the next services
//! response     decision + response -> edits of the response's headers, and what it was worth
//! fuse         responses of both versions -> whether new sessions get to the canary
//! labels       decision -> names of metrics, texts for logs
//! edit         the edits themselves, as the module applies them
//! ```
//!
//! Nothing here panics and nothing fails a request: a trap in Wasm takes every request in flight on that worker with it.

#![warn(clippy::missing_errors_doc)]

mod baggage;
mod context_map;
pub mod edit;
pub mod forward;
pub mod fuse;
pub mod labels;
pub mod response;

pub use context_map::ContextMap;
