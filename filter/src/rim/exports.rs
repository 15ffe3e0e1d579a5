//! Where the proxy comes in: the functions that it calls, and which context each call is for.
//!
//! Each export is a VM entry that Envoy makes when its event happens, so only events that we need are here: bodies,
//! trailers, logs and WebSocket frames never enter the VM (`filter/exports.txt` holds the list, checked after linking).
//!
//! # Source
//! Proxy-Wasm ABI 0.2.1: <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>
#![expect(unsafe_code, reason = "the ABI names its functions")]

use super::root::Root;
use super::stream::Stream;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem::MaybeUninit;
use std::ptr;

/// `Action::Continue`.
const CONTINUE: u32 = 0;

thread_local! {
    /// The contexts of this VM. (A VM has one thread; each worker of the proxy has a VM of its own.)
    static CONTEXTS: RefCell<Contexts> = RefCell::new(Contexts::default());
}

/// Several roots live side by side while a configuration is replaced: streams keep the one that they began with.
#[derive(Default)]
struct Contexts {
    roots: ById<Root>,
    streams: ById<Stream>,
}

type ById<T> = HashMap<u32, T, BuildHasherDefault<ContextIdHasher>>;

/// Context ids are counted up by the proxy, so they are spread already.
#[derive(Default)]
struct ContextIdHasher(u64);

impl Hasher for ContextIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
    fn write_u32(&mut self, id: u32) {
        // Fibonacci hashing: the table looks at the upper bits too.
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Says which ABI this is.
#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

/// Memory for what the proxy hands us; [`super::abi`] takes it over as a boxed slice of this size.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut MaybeUninit<u8> {
    let mut memory = Vec::<MaybeUninit<u8>>::new();
    if memory.try_reserve_exact(size).is_err() {
        return ptr::null_mut();
    }
    memory.resize_with(size, MaybeUninit::uninit);
    Box::into_raw(memory.into_boxed_slice()).cast()
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_context_create(context: u32, root: u32) {
    CONTEXTS.with_borrow_mut(|contexts| {
        if root == 0 {
            contexts.roots.insert(context, Root::default());
        } else if let Some(root) = contexts.roots.get(&root) {
            contexts.streams.insert(context, root.stream());
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_configure(root: u32, size: usize) -> u32 {
    let accepted =
        CONTEXTS.with_borrow_mut(|contexts| contexts.roots.entry(root).or_default().configure(size));
    u32::from(accepted)
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_tick(root: u32) {
    CONTEXTS.with_borrow(|contexts| contexts.roots.get(&root).map(Root::tick));
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(stream: u32, _count: u32, _end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow_mut(|contexts| contexts.streams.get_mut(&stream).map(Stream::request));
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_response_headers(stream: u32, _count: u32, _end_of_stream: u32) -> u32 {
    CONTEXTS.with_borrow(|contexts| contexts.streams.get(&stream).map(Stream::answer));
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(context: u32) {
    CONTEXTS.with_borrow_mut(|contexts| {
        if contexts.streams.remove(&context).is_none() {
            contexts.roots.remove(&context);
        }
    });
}
