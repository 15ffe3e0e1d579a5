//! The guest's memory, seen from a host function: reading what it points at, and handing bytes over.

use wasmtime::{Caller, Memory, TypedFunc};

use super::abi::{Status, Stop};
use super::state::State;

/// What the host needs of the guest while the guest runs.
#[derive(Clone)]
pub(crate) struct GuestExports {
    pub(crate) memory: Memory,
    /// `proxy_on_memory_allocate`, else `malloc`.
    pub(crate) allocate: TypedFunc<i32, i32>,
}

/// One host call in progress.
pub(crate) struct Call<'a, 'b>(pub(crate) &'a mut Caller<'b, State>);

impl Call<'_, '_> {
    pub(crate) fn state(&mut self) -> &mut State {
        self.0.data_mut()
    }

    /// A copy of the guest's bytes; an address outside its memory is `InvalidMemoryAccess`.
    pub(crate) fn read(&mut self, address: i32, length: i32) -> Result<Vec<u8>, Stop> {
        let memory = self.exports()?.memory;
        let start = offset(address);
        let end = start.checked_add(offset(length)).ok_or(Status::InvalidMemoryAccess)?;
        let bytes = memory.data(&*self.0).get(start..end).ok_or(Status::InvalidMemoryAccess)?;
        Ok(bytes.to_vec())
    }

    /// As [`Call::read`], as text.
    pub(crate) fn read_text(&mut self, address: i32, length: i32) -> Result<String, Stop> {
        Ok(String::from_utf8_lossy(&self.read(address, length)?).into_owned())
    }

    pub(crate) fn write(&mut self, address: i32, bytes: &[u8]) -> Result<(), Stop> {
        let memory = self.exports()?.memory;
        memory.write(&mut *self.0, offset(address), bytes).map_err(|_| Status::InvalidMemoryAccess.into())
    }

    pub(crate) fn write_u32(&mut self, address: i32, value: u32) -> Result<(), Stop> {
        self.write(address, &value.to_le_bytes())
    }

    pub(crate) fn write_u64(&mut self, address: i32, value: u64) -> Result<(), Stop> {
        self.write(address, &value.to_le_bytes())
    }

    /// Writes bytes into memory that the guest allocates, and their address and length to the out-pointers; no bytes
    /// are a null pointer of length 0 (`WasmBase::copyToPointerSize`).
    pub(crate) fn hand_over(&mut self, bytes: &[u8], address_out: i32, length_out: i32) -> Result<(), Stop> {
        let mut address = 0;
        let length = i32::try_from(bytes.len()).map_err(|_| Status::InternalFailure)?;
        if length > 0 {
            let allocate = self.exports()?.allocate;
            address = allocate.call(&mut *self.0, length).map_err(Stop::Trap)?;
            if address == 0 {
                return Err(Status::InvalidMemoryAccess.into());
            }
            self.write(address, bytes)?;
        }
        self.write(address_out, &address.to_le_bytes())?;
        self.write(length_out, &length.to_le_bytes())
    }

    fn exports(&mut self) -> Result<GuestExports, Stop> {
        self.state().guest.clone().ok_or_else(|| Status::InternalFailure.into())
    }
}

/// WebAssembly's addresses are unsigned; its integer type is not.
fn offset(number: i32) -> usize {
    usize::try_from(number.cast_unsigned()).unwrap_or(usize::MAX)
}
