//! Where the proxy comes in: the functions that it calls, and which context each call is for.
//!
//! Each export is a VM entry that Envoy makes when its event happens, so only events that we need are here: bodies,
//! trailers, logs and WebSocket frames never enter the VM (`filter/exports.txt` holds the list, checked after linking).
//!
//! # Source
//! Proxy-Wasm ABI 0.2.1: <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>
#![expect(unsafe_code, reason = "the ABI names its functions")]

use crate::contexts::Contexts;
use std::alloc::{Layout, alloc};
use std::cell::RefCell;
use std::ptr;

/// `Action::Continue`.
const CONTINUE: u32 = 0;

thread_local! {
    /// The contexts of this VM. (A VM has one thread; each worker of the proxy has a VM of its own.) Several roots live
    /// side by side while a configuration is replaced: streams keep the one that they began with.
    static CONTEXTS: RefCell<Contexts> = RefCell::new(Contexts::default());
}

/// Says which ABI this is.
#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

/// Memory for what the proxy hands us, not zeroed; [`crate::abi`] takes it over as a vector of this size. Null when there is
/// none, which the proxy takes as a failed call.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut u8 {
    match Layout::array::<u8>(size) {
        // SAFETY: the size is not zero. What we do not write first the host does.
        Ok(layout) if size > 0 => unsafe { alloc(layout) },
        _ => ptr::null_mut(),
    }
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
    CONTEXTS.with_borrow(|contexts| {
        if let Some(root) = contexts.root(root) {
            root.tick();
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(stream: u32, _count: u32, _end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| {
        if let Some(stream) = contexts.stream_mut(stream) {
            stream.request();
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_response_headers(stream: u32, _count: u32, _end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| {
        if let Some(stream) = contexts.stream_mut(stream) {
            stream.answer();
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(context: u32) {
    CONTEXTS.with_borrow_mut(|contexts| contexts.delete(context));
}
