//! The host calls of the module, as safe functions that return failures instead of panicking.
//!
//! # Source
//! Proxy-Wasm ABI 0.2.1: <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>
#![expect(unsafe_code, reason = "the ABI is C: raw pointers in, and buffers that the host allocated out")]

use crate::memory::HostBytes;
pub(crate) use crate::types::{Level, Map, Metric, OK, PLUGIN_CONFIGURATION};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_header_map_pairs(map: u32, data: *mut *mut u8, size: *mut usize) -> u32;
    fn proxy_set_header_map_pairs(map: u32, data: *const u8, size: usize) -> u32;
    fn proxy_replace_header_map_value(
        map: u32,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        size: usize,
    ) -> u32;
    fn proxy_add_header_map_value(
        map: u32,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        size: usize,
    ) -> u32;
    fn proxy_remove_header_map_value(map: u32, key: *const u8, key_size: usize) -> u32;
    fn proxy_get_property(path: *const u8, path_size: usize, data: *mut *mut u8, size: *mut usize) -> u32;
    fn proxy_set_property(path: *const u8, path_size: usize, value: *const u8, size: usize) -> u32;
    fn proxy_get_current_time_nanoseconds(time: *mut u64) -> u32;
    fn proxy_define_metric(kind: u32, name: *const u8, name_size: usize, id: *mut u32) -> u32;
    fn proxy_increment_metric(id: u32, offset: i64) -> u32;
    fn proxy_record_metric(id: u32, value: u64) -> u32;
    fn proxy_get_shared_data(
        key: *const u8,
        size: usize,
        data: *mut *mut u8,
        len: *mut usize,
        cas: *mut u32,
    ) -> u32;
    fn proxy_set_shared_data(key: *const u8, key_size: usize, value: *const u8, size: usize, cas: u32)
    -> u32;
    fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    fn proxy_get_buffer_bytes(
        kind: u32,
        start: usize,
        max: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_log(level: u32, text: *const u8, size: usize) -> u32;
}

// The host offers WASI's randomness to modules that are not built for WASI as well.
#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn random_get(buffer: *mut u8, size: usize) -> u32;
}

/// All headers, in the wire form of [`assignment::request::Headers::from_wire`]; `None` if the proxy has none.
pub(crate) fn header_pairs(map: Map) -> Option<HostBytes> {
    // SAFETY: both out-pointers live until the call returns.
    HostBytes::from_call(|data, size| unsafe { proxy_get_header_map_pairs(map as u32, data, size) })
}

/// Replaces the whole map; `pairs` in the wire form.
pub(crate) fn set_header_pairs(map: Map, pairs: &[u8]) {
    // SAFETY: the slice lives until the call returns.
    unsafe { proxy_set_header_map_pairs(map as u32, pairs.as_ptr(), pairs.len()) };
}

/// Replaces every line of a header by one.
pub(crate) fn replace_header(map: Map, name: &str, value: &[u8]) {
    // SAFETY: both slices live until the call returns.
    unsafe {
        proxy_replace_header_map_value(map as u32, name.as_ptr(), name.len(), value.as_ptr(), value.len());
    }
}

/// Adds a line of a header.
pub(crate) fn add_header(map: Map, name: &str, value: &[u8]) {
    // SAFETY: both slices live until the call returns.
    unsafe {
        proxy_add_header_map_value(map as u32, name.as_ptr(), name.len(), value.as_ptr(), value.len());
    }
}

/// Removes every line of a header.
pub(crate) fn remove_header(map: Map, name: &[u8]) {
    // SAFETY: the slice lives until the call returns.
    unsafe { proxy_remove_header_map_value(map as u32, name.as_ptr(), name.len()) };
}

/// A property of the stream, by its path with NULs between the parts; `None` if there is none.
pub(crate) fn property(path: &str) -> Option<HostBytes> {
    // SAFETY: path and out-pointers live until the call returns.
    HostBytes::from_call(|data, size| unsafe { proxy_get_property(path.as_ptr(), path.len(), data, size) })
}

/// Sets filter state `wasm.<name>`.
pub(crate) fn set_filter_state(name: &str, value: &str) {
    // SAFETY: both slices live until the call returns.
    unsafe { proxy_set_property(name.as_ptr(), name.len(), value.as_ptr(), value.len()) };
}

/// Nanoseconds since 1970-01-01 UTC.
pub(crate) fn now_nanoseconds() -> u64 {
    let mut time = 0;
    // SAFETY: the out-pointer lives until the call returns.
    unsafe { proxy_get_current_time_nanoseconds(&raw mut time) };
    time
}

/// 64 bits from the host's own source of randomness.
pub(crate) fn random() -> Option<u64> {
    let mut bits = [0; 8];
    // SAFETY: the buffer lives until the call returns and is as long as said.
    let status = unsafe { random_get(bits.as_mut_ptr(), bits.len()) };
    (status == OK).then_some(u64::from_le_bytes(bits))
}

/// Defines a metric, or finds the one of that name. Each call creates a new id in this VM, so callers keep ids.
pub(crate) fn define_metric(kind: Metric, name: &str) -> Option<u32> {
    let mut id = 0;
    // SAFETY: name and out-pointer live until the call returns.
    let status = unsafe { proxy_define_metric(kind as u32, name.as_ptr(), name.len(), &raw mut id) };
    (status == OK).then_some(id)
}

/// Adds to a counter.
pub(crate) fn increment_metric(id: u32, by: i64) {
    // SAFETY: no pointers.
    unsafe { proxy_increment_metric(id, by) };
}

/// Sets a gauge, or adds to a histogram.
pub(crate) fn record_metric(id: u32, value: u64) {
    // SAFETY: no pointers.
    unsafe { proxy_record_metric(id, value) };
}

/// The value of this key that the VMs of this process share, and the number of its last write; `None` and 0 where there is none.
pub(crate) fn shared_data(key: &str) -> (Option<HostBytes>, u32) {
    let mut cas = 0;
    let value = HostBytes::from_call(|data, size| {
        // SAFETY: key and out-pointers live until the call returns.
        unsafe { proxy_get_shared_data(key.as_ptr(), key.len(), data, size, &raw mut cas) }
    });
    (value, cas)
}

/// Shares a value with the other VMs of this process. Returns whether it did: not if `cas` is neither 0 nor the number of the last write.
pub(crate) fn set_shared_data(key: &str, value: &[u8], cas: u32) -> bool {
    // SAFETY: both slices live until the call returns.
    OK == unsafe { proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), cas) }
}

/// Requests `on_tick` at this interval, in milliseconds; 0 stops it.
pub(crate) fn set_tick_period(milliseconds: u32) {
    // SAFETY: no pointers.
    unsafe { proxy_set_tick_period_milliseconds(milliseconds) };
}

/// The configuration of the plugin, as written by `canary-ctl`; `None` if the proxy has none.
pub(crate) fn plugin_configuration(size: usize) -> Option<HostBytes> {
    // SAFETY: the out-pointers live until the call returns.
    HostBytes::from_call(|data, len| unsafe {
        proxy_get_buffer_bytes(PLUGIN_CONFIGURATION, 0, size, data, len)
    })
}

/// Writes a line into the proxy's log.
pub(crate) fn log(level: Level, text: &str) {
    // SAFETY: the slice lives until the call returns.
    unsafe { proxy_log(level as u32, text.as_ptr(), text.len()) };
}
