//! The functions that the proxy calls; each finds the context that the call is for.
//!
//! Each export is a VM entry that Envoy makes when its event happens, so only the needed events are exported: bodies,
//! logs and WebSocket frames never enter the VM (`filter/exports.txt` holds the list, checked after linking).
//!
//! # Source
//! Proxy-Wasm ABI 0.2.1: <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>
#![expect(unsafe_code, reason = "the ABI names its functions")]

use crate::contexts::Contexts;
use crate::memory;
use std::cell::RefCell;

/// `Action::Continue`.
const CONTINUE: u32 = 0;

thread_local! {
    /// The contexts of this VM. (A VM has one thread; each worker of the proxy has a VM of its own.) Several roots live
    /// side by side while a configuration is replaced: streams keep the one that they began with.
    static CONTEXTS: RefCell<Contexts> = RefCell::new(Contexts::default());
}

/// Marks the ABI version of the module.
#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

// A test program would allocate by its own `malloc`, and never return.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
#[cfg_attr(not(target_family = "wasm"), unsafe(export_name = "module_malloc"))]
extern "C" fn malloc(size: usize) -> *mut u8 {
    memory::allocate(size)
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_context_create(context: u32, root: u32) {
    CONTEXTS.with_borrow_mut(|contexts| contexts.create(context, root));
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_configure(root: u32, size: usize) -> u32 {
    CONTEXTS
        .with_borrow_mut(|contexts| contexts.root_mut(root).is_some_and(|root| root.configure(size)).into())
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_tick(root: u32) {
    CONTEXTS.with_borrow_mut(|contexts| contexts.tick(root));
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(stream: u32, _count: u32, end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| {
        if let Some(stream) = contexts.stream_mut(stream) {
            stream.on_request_headers(end_of_stream != 0);
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_response_headers(stream: u32, _count: u32, end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| {
        if let Some(stream) = contexts.stream_mut(stream) {
            stream.on_response_headers(end_of_stream != 0);
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_response_trailers(stream: u32, _count: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| {
        if let Some(stream) = contexts.stream_mut(stream) {
            stream.on_response_trailers();
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(context: u32) {
    CONTEXTS.with_borrow_mut(|contexts| contexts.delete(context));
}
