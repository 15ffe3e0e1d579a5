//! The numbers of the ABI's types, of those that we use. `wasm-tests/tests/wasm/abi.rs` compares them with the SDK's.
//!
//! # Source
//! Proxy-Wasm ABI 0.2.1: <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#types>

/// `proxy_map_type_t`
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Map {
    Request = 0,
    Response = 2,
    ResponseTrailers = 3,
}

/// `proxy_metric_type_t`
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Metric {
    Counter = 0,
    Gauge = 1,
    Histogram = 2,
}

/// `proxy_log_level_t`
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Level {
    Warn = 3,
    Error = 4,
}

/// `proxy_status_t`: the call succeeded.
pub(crate) const OK: u32 = 0;

/// `proxy_buffer_type_t`: the configuration of the plugin.
pub(crate) const PLUGIN_CONFIGURATION: u32 = 7;
