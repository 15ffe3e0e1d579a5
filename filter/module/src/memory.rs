//! Memory for data from the proxy: a scratch buffer, and the heap if the buffer is in use or too small.
//!
//! Every call that returns bytes has the proxy call our `malloc`, twice for an ordinary request. With one buffer for
//! all of them neither costs an allocation, whose code and data are no longer in the CPU's caches when the next request
//! arrives.
#![expect(unsafe_code, reason = "the ABI is C: what `malloc` gave out comes back as a pointer and a length")]

use crate::abi::OK;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, UnsafeCell};
use std::ops::Deref;
use std::{ptr, slice};

/// Bytes of the scratch buffer: the headers of nearly every request. Envoy takes 60 kB of them at most.
const SCRATCH_LEN: usize = 8 * 1024;

thread_local! {
    /// (A VM has one thread.)
    static SCRATCH: Scratch = const { Scratch { bytes: UnsafeCell::new([0; SCRATCH_LEN]), holder: Cell::new(Holder::None) } };
}

struct Scratch {
    bytes: UnsafeCell<[u8; SCRATCH_LEN]>,
    holder: Cell<Holder>,
}

/// The owner of the scratch buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    None,
    /// The proxy, until the end of the host call that allocated it.
    Proxy,
    /// A [`HostBytes`].
    Us,
}

/// The memory that the export `malloc` returns to the proxy. Not zeroed: the proxy writes all of it. Null if there is
/// none, which the proxy treats as a failed call.
pub(crate) fn allocate(size: usize) -> *mut u8 {
    SCRATCH.with(|scratch| {
        if scratch.holder.get() == Holder::None && (1..=SCRATCH_LEN).contains(&size) {
            scratch.holder.set(Holder::Proxy);
            return scratch.bytes.get().cast();
        }
        match Layout::array::<u8>(size) {
            // SAFETY: the size is not zero.
            Ok(layout) if size > 0 => unsafe { alloc(layout) },
            _ => ptr::null_mut(),
        }
    })
}

/// Bytes that the proxy has handed over.
pub(crate) struct HostBytes {
    /// Null where there are none.
    data: *mut u8,
    len: usize,
}

impl HostBytes {
    /// Takes over what a host call returns through the two pointers that it is given. `None` if it fails.
    pub(crate) fn from_call(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Option<Self> {
        SCRATCH.with(|scratch| {
            // Left over from a call that allocated it and then failed.
            if scratch.holder.get() == Holder::Proxy {
                scratch.holder.set(Holder::None);
            }
            let (mut data, mut len) = (ptr::null_mut(), 0);
            if call(&raw mut data, &raw mut len) != OK {
                return None;
            }
            if data == scratch.bytes.get().cast() {
                scratch.holder.set(Holder::Us);
            }
            Some(Self { data, len: if data.is_null() { 0 } else { len } })
        })
    }
}

impl Deref for HostBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: on success the host has set both to memory of this size that `allocate` gave it, has filled it, and has
        // given it up; no other call gets it until this is dropped.
        unsafe { slice::from_raw_parts(self.data, self.len) }
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        SCRATCH.with(|scratch| {
            if self.data == scratch.bytes.get().cast() {
                scratch.holder.set(Holder::None);
            } else if let (Ok(layout), 1..) = (Layout::array::<u8>(self.len), self.len) {
                // SAFETY: `allocate` allocated it with this layout: the host returns the size that it requested.
                unsafe { dealloc(self.data, layout) }
            }
        });
    }
}
