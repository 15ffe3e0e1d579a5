//! What a guest may use, and how its use is counted: fuel is one unit per WebAssembly instruction, the same on every machine.

use wasmtime::{StoreLimits, StoreLimitsBuilder};

/// Bounds on one VM.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions per entry into the VM; more is a trap. Catches endless loops.
    pub fuel_per_entry: u64,
    /// Linear memory in bytes; growing past it fails inside the guest, which then usually traps.
    pub memory_bytes: usize,
}

impl Default for Limits {
    /// Ten milliard instructions (seconds, not minutes) and 256 MiB.
    fn default() -> Self {
        Self { fuel_per_entry: 10_000_000_000, memory_bytes: 256 << 20 }
    }
}

impl Limits {
    pub(crate) fn store_limits(self) -> StoreLimits {
        StoreLimitsBuilder::new().memory_size(self.memory_bytes).build()
    }
}

/// Instructions that one exchange took, by the part of it that took them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fuel {
    /// Creating the stream's context.
    pub create: u64,
    /// The request callback.
    pub request: u64,
    /// The response callback.
    pub response: u64,
    /// Log, done and delete.
    pub end: u64,
}

impl Fuel {
    /// The whole exchange.
    pub fn total(self) -> u64 {
        self.create + self.request + self.response + self.end
    }
}
