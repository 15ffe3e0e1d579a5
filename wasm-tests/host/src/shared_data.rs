//! Shared data: what all VMs of one `vm_id` see, with compare-and-swap (`proxy-wasm-cpp-host/src/shared_data.cc`).

use std::collections::BTreeMap;

use super::abi::Status;

/// Values by key, each with the number of its last write.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedData {
    entries: BTreeMap<Vec<u8>, (Vec<u8>, u32)>,
    last_cas: u32,
    /// How many writes with a number from now on meet one of another VM in between.
    pub(crate) overtaken: u32,
}

impl SharedData {
    pub(crate) fn get(&self, key: &[u8]) -> Option<(&[u8], u32)> {
        self.entries.get(key).map(|(value, cas)| (value.as_slice(), *cas))
    }

    /// Writes when `cas` is 0 (always), the key is new, or `cas` is the number of the last write to it.
    pub(crate) fn set(&mut self, key: &[u8], value: &[u8], cas: u32) -> Result<(), Status> {
        if cas != 0 && self.overtaken > 0 {
            self.overtaken -= 1;
            return Err(Status::CasMismatch);
        }
        if let Some((_, current)) = self.entries.get(key)
            && cas != 0
            && cas != *current
        {
            return Err(Status::CasMismatch);
        }
        // 0 means "always", so no write may carry it.
        self.last_cas = self.last_cas.checked_add(1).unwrap_or(1);
        self.entries.insert(key.to_vec(), (value.to_vec(), self.last_cas));
        Ok(())
    }
}
