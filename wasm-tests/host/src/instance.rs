//! The instantiated module: entries into it by name, with fuel counted and traps turned into errors.

use std::collections::BTreeMap;

use wasmtime::{Instance as Guest, Store, Trap, TypedFunc, WasmParams, WasmResults};

use super::abi;
use super::error::HostError;
use super::guest::GuestExports;
use super::limits::Limits;
use super::module::Module;
use super::proxy::Proxy;
use super::state::{Phase, State};
use super::vm::{Randomness, VmOptions};

/// A running guest and what is known about it.
pub(crate) struct Instance {
    store: Store<State>,
    guest: Guest,
    limits: Limits,
    last_id: u32,
    /// The root context that serves requests.
    pub(crate) serving: Option<u32>,
    /// Instructions so far.
    pub(crate) fuel: u64,
    pub(crate) dead: bool,
}

impl Instance {
    /// Instantiates, checks the ABI, and runs the module's own start function.
    pub(crate) fn start(module: &Module, proxy: Proxy, options: VmOptions) -> Result<Self, HostError> {
        let limits = options.limits;
        let compiled = module.compiled();
        let mut store = Store::new(compiled.engine(), state(proxy, options));
        store.limiter(|state| &mut state.limits);
        set_fuel(&mut store, limits.fuel_per_entry);
        let refuse = |error: wasmtime::Error| HostError::Instantiate(format!("{error:#}"));
        let mut linker = abi::linker(compiled.engine()).map_err(refuse)?;
        linker.define_unknown_imports_as_traps(compiled).map_err(refuse)?;
        let guest = linker.instantiate(&mut store, compiled).map_err(refuse)?;
        let mut instance = Self { store, guest, limits, last_id: 0, serving: None, fuel: 0, dead: false };
        instance.find_exports(module)?;
        if instance.call::<(), ()>("_initialize", ())?.is_none() {
            instance.call::<(), ()>("_start", ())?;
        }
        Ok(instance)
    }

    pub(crate) fn state(&mut self) -> &mut State {
        self.store.data_mut()
    }

    pub(crate) fn state_ref(&self) -> &State {
        self.store.data()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.state_ref().guest.as_ref().map_or(0, |guest| guest.memory.data_size(&self.store))
    }

    /// A context id that was never used in this VM.
    pub(crate) fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// Moves a stream on; no such stream is fine.
    pub(crate) fn enter_phase(&mut self, stream: u32, phase: Phase) {
        if let Some(stream) = self.state().streams.get_mut(&stream) {
            stream.phase = phase;
        }
    }

    /// Calls an export that returns nothing, on behalf of this context; `false` when it is not exported.
    pub(crate) fn enter(
        &mut self,
        context: u32,
        name: &'static str,
        arguments: impl WasmParams,
    ) -> Result<bool, HostError> {
        self.state().current = context;
        Ok(self.call::<_, ()>(name, arguments)?.is_some())
    }

    /// Calls an export that answers a number; `None` when it is not exported.
    pub(crate) fn number(
        &mut self,
        context: u32,
        name: &'static str,
        arguments: impl WasmParams,
    ) -> Result<Option<i32>, HostError> {
        self.state().current = context;
        self.call(name, arguments)
    }

    /// Calls an export that returns yes or no; yes when it is not exported.
    pub(crate) fn ask(
        &mut self,
        context: u32,
        name: &'static str,
        arguments: impl WasmParams,
    ) -> Result<bool, HostError> {
        Ok(self.number(context, name, arguments)?.is_none_or(|response| response != 0))
    }

    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &'static str,
        arguments: P,
    ) -> Result<Option<R>, HostError> {
        if self.dead {
            return Err(HostError::Dead);
        }
        if self.guest.get_func(&mut self.store, name).is_none() {
            return Ok(None);
        }
        let function: TypedFunc<P, R> =
            self.guest.get_typed_func(&mut self.store, name).map_err(|error| self.trap(name, &error))?;
        set_fuel(&mut self.store, self.limits.fuel_per_entry);
        let result = function.call(&mut self.store, arguments);
        let left = self.store.get_fuel().unwrap_or_default();
        self.fuel += self.limits.fuel_per_entry.saturating_sub(left);
        match result {
            Ok(response) => Ok(Some(response)),
            Err(error) => {
                self.dead = true;
                Err(self.trap(name, &error))
            }
        }
    }

    fn trap(&self, entry: &'static str, error: &wasmtime::Error) -> HostError {
        let cause = match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => format!("more than {} instructions", self.limits.fuel_per_entry),
            Some(trap) => trap.to_string(),
            None => format!("{error:#}"),
        };
        HostError::Trap { entry, cause, log: self.state_ref().logs.last().map(|line| line.message.clone()) }
    }

    fn find_exports(&mut self, module: &Module) -> Result<(), HostError> {
        let missing = |expected| HostError::MissingExport { expected, found: module.exports().join(", ") };
        let versions = ["proxy_abi_version_0_2_1", "proxy_abi_version_0_2_0"];
        if versions.iter().all(|name| self.guest.get_func(&mut self.store, name).is_none()) {
            return Err(missing("proxy_abi_version_0_2_1 (or 0_2_0)"));
        }
        let memory = self.guest.get_memory(&mut self.store, "memory").ok_or_else(|| missing("memory"))?;
        let mut allocator = |name: &str| self.guest.get_typed_func(&mut self.store, name).ok();
        let allocate = allocator("proxy_on_memory_allocate").or_else(|| allocator("malloc"));
        let allocate = allocate.ok_or_else(|| missing("proxy_on_memory_allocate (or malloc)"))?;
        self.state().guest = Some(GuestExports { memory, allocate });
        Ok(())
    }
}

fn state(proxy: Proxy, options: VmOptions) -> State {
    State {
        proxy,
        properties: options.property_map(),
        vm_configuration: options.vm_configuration,
        roots: BTreeMap::new(),
        streams: BTreeMap::new(),
        current: 0,
        log_level: options.log_level,
        logs: Vec::new(),
        random: match options.randomness {
            Randomness::Seeded(seed) => Some(fastrand::Rng::with_seed(seed)),
            Randomness::Unavailable => None,
        },
        metrics: Vec::new(),
        host_calls: BTreeMap::new(),
        guest: None,
        limits: options.limits.store_limits(),
    }
}

/// The engine counts fuel, so setting it cannot fail; if it ever did, the first entry would report it.
fn set_fuel(store: &mut Store<State>, fuel: u64) {
    drop(store.set_fuel(fuel));
}
