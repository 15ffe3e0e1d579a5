//! Memory for what the proxy hands us: a buffer that is kept, and the heap where that is in use or too small.
//!
//! Every call that returns bytes has the proxy call our `malloc`, twice for an ordinary request. With one buffer for all of
//! them neither costs an allocation, whose code and book-keeping have gone cold by the time that the next request comes.
#![expect(unsafe_code, reason = "the ABI is C: what `malloc` gave out comes back as a pointer and a length")]

use crate::abi::OK;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, UnsafeCell};
use std::ops::Deref;
use std::{ptr, slice};

/// Bytes of the kept buffer: the headers of nearly every request. Envoy takes 60 kB of them at most.
const KEPT_LEN: usize = 8 * 1024;

thread_local! {
    /// (A VM has one thread.)
    static KEPT: Kept = const { Kept { bytes: UnsafeCell::new([0; KEPT_LEN]), holder: Cell::new(Holder::Nobody) } };
}

struct Kept {
    bytes: UnsafeCell<[u8; KEPT_LEN]>,
    holder: Cell<Holder>,
}

/// Whose the kept buffer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// Until the call ends for which it asked for it.
    Proxy,
    /// A [`HostBytes`].
    Us,
}

/// What the export `malloc` gives the proxy, not zeroed: what we do not write first the proxy does. Null when there is none,
/// which the proxy takes as a failed call.
pub(crate) fn give(size: usize) -> *mut u8 {
    KEPT.with(|kept| {
        if kept.holder.get() == Holder::Nobody && (1..=KEPT_LEN).contains(&size) {
            kept.holder.set(Holder::Proxy);
            return kept.bytes.get().cast();
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
    /// Takes over what a host call returns through the two pointers that it is given. `None` where it fails.
    pub(crate) fn from_call(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Option<Self> {
        KEPT.with(|kept| {
            // Left over from a call that asked for it and failed then.
            if kept.holder.get() == Holder::Proxy {
                kept.holder.set(Holder::Nobody);
            }
            let (mut data, mut len) = (ptr::null_mut(), 0);
            if call(&raw mut data, &raw mut len) != OK {
                return None;
            }
            if data == kept.bytes.get().cast() {
                kept.holder.set(Holder::Us);
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
        // SAFETY: on success the host has set both to memory of this size that `give` gave it, has filled it, and has
        // given it up; nobody else gets it until this is dropped.
        unsafe { slice::from_raw_parts(self.data, self.len) }
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        KEPT.with(|kept| {
            if self.data == kept.bytes.get().cast() {
                kept.holder.set(Holder::Nobody);
            } else if let (Ok(layout), 1..) = (Layout::array::<u8>(self.len), self.len) {
                // SAFETY: `give` allocated it with this layout: the host returns the size that it asked for.
                unsafe { dealloc(self.data, layout) }
            }
        });
    }
}
