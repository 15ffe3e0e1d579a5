//! The imports of ABI 0.2.1, by what they are about; anything else that a module imports traps with its name.

mod data;
mod maps;
mod metrics;
mod stream;
mod wasi;

use wasmtime::{Caller, Linker};

use super::guest::Call;
use super::state::State;

/// What a host call answers; the numbers are the ABI's (`proxy_wasm_common.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok = 0,
    NotFound = 1,
    BadArgument = 2,
    InvalidMemoryAccess = 6,
    CasMismatch = 8,
    InternalFailure = 10,
}

/// Why a host call does not answer `Ok`.
pub(crate) enum Stop {
    /// The status is returned to the guest, which continues.
    Status(Status),
    /// The guest trapped while it allocated for the host, or ended itself (`proc_exit`).
    Trap(wasmtime::Error),
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// A host call's result before it becomes a number.
pub(crate) type Answer = Result<(), Stop>;

/// A linker with every import that this host offers.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    maps::link(&mut linker)?;
    data::link(&mut linker)?;
    metrics::link(&mut linker)?;
    stream::link(&mut linker)?;
    wasi::link(&mut linker)?;
    Ok(linker)
}

/// Counts the call, runs it, and turns its result into the ABI's number.
pub(crate) fn answer(
    mut caller: Caller<'_, State>,
    name: &'static str,
    work: impl FnOnce(&mut Call<'_, '_>) -> Answer,
) -> wasmtime::Result<i32> {
    *caller.data_mut().host_calls.entry(name).or_default() += 1;
    match work(&mut Call(&mut caller)) {
        Ok(()) => Ok(Status::Ok as i32),
        Err(Stop::Status(status)) => Ok(status as i32),
        Err(Stop::Trap(error)) => Err(error),
    }
}
