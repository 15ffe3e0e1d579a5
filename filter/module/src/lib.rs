//! The module for Envoy, and the only code that uses Proxy-Wasm: an ABI layer of our own, in four files, `exports`,
//! `abi`, `types` and `memory`.
//!
//! ```text
//! exports -> root (configuration, tick) -> stream (request, response)
//!              clock, metrics and slots, fuse, health, host_environment: what a stream reads from its worker
//! ```
//!
//! A crate of its own, because a crate that is a module *and* a library is linked without optimisation across crates, which is a
//! tenth of the module.
//!
//! Why not the SDK (crate `proxy-wasm`, which the baseline of the benchmark is built with): its host calls panic on a
//! status that they do not expect, and a panic here costs every request in flight on the worker; they copy each header
//! into a `String`, although the buffer that the host filled can be read in place; and its dispatcher links some 60 kB
//! of callbacks that this filter never uses. `docs/benchmarks.md` compares with an empty filter built on it.

#![cfg(any(target_arch = "wasm32", clippy))]

mod abi;
mod clock;
mod contexts;
mod exports;
mod fuse;
mod health;
mod host_environment;
mod memory;
mod metrics;
mod root;
mod slots;
mod stream;
mod types;
