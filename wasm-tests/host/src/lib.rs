//! A Proxy-Wasm host (ABI 0.2.1) on wasmtime: state in, state out; it answers like Envoy and scripts no calls.
//!
//! Where the ABI leaves room, Envoy decides (`source/extensions/common/wasm/context.cc` and
//! `proxy-wasm-cpp-host/src/exports.cc`); each module names the part that it mirrors.

mod abi;
mod error;
mod exchange;
mod guest;
mod head;
mod headers;
mod inline;
mod instance;
mod limits;
mod metrics;
mod module;
mod properties;
mod proxy;
mod shared_data;
mod state;
mod vm;
pub mod wire;

pub use error::HostError;
pub use exchange::{Action, Ended, Exchange};
pub use head::{RequestHead, ResponseHead};
pub use headers::Headers;
pub use limits::{Fuel, Limits};
pub use metrics::MetricKind;
pub use module::Module;
pub use proxy::Proxy;
pub use state::{LocalResponse, LogLevel, LogLine};
pub use vm::{Randomness, Vm, VmOptions};
