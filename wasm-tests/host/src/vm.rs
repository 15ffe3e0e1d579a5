//! One VM: a compiled module brought to life, its root contexts, and every entry into it.

use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::HostError;
use super::exchange::Exchange;
use super::head::{Properties, RequestHead};
use super::instance::Instance;
use super::limits::Limits;
use super::module::Module;
use super::proxy::Proxy;
use super::state::{LogLevel, LogLine, Root};
use super::wire;

/// Where `random_get` takes its bytes from.
#[derive(Clone, Copy, Debug)]
pub enum Randomness {
    /// A repeatable sequence.
    Seeded(u64),
    /// The call fails.
    Unavailable,
}

/// How a VM is set up.
#[derive(Clone, Debug)]
pub struct VmOptions {
    /// What `on_vm_start` can read.
    pub vm_configuration: Vec<u8>,
    /// What `random_get` answers.
    pub randomness: Randomness,
    /// What the guest may use.
    pub limits: Limits,
    /// What `proxy_get_log_level` answers; every line is captured all the same.
    pub log_level: LogLevel,
    /// Properties of the node, e.g. `(["plugin_name"], …)`; a request's own come first.
    pub properties: Vec<(Vec<&'static str>, Vec<u8>)>,
}

impl Default for VmOptions {
    /// No VM configuration, seed 0, default limits, level info.
    fn default() -> Self {
        Self {
            vm_configuration: Vec::new(),
            randomness: Randomness::Seeded(0),
            limits: Limits::default(),
            log_level: LogLevel::Info,
            properties: Vec::new(),
        }
    }
}

/// One VM, as a worker thread of Envoy has it; clones are handles to the same one.
#[derive(Clone)]
pub struct Vm {
    instance: Rc<RefCell<Instance>>,
}

impl Vm {
    /// A VM in a proxy of its own, with the default options.
    pub fn start(module: &Module) -> Result<Self, HostError> {
        Self::start_in(module, &Proxy::new(), VmOptions::default())
    }

    /// A VM in this proxy: it shares clock, metrics and shared data with the others there.
    ///
    /// Runs `_initialize` (or `_start`). As in Envoy `proxy_on_vm_start` runs for each root context, in
    /// [`Vm::configure`].
    pub fn start_in(module: &Module, proxy: &Proxy, options: VmOptions) -> Result<Self, HostError> {
        let instance = Instance::start(module, proxy.clone(), options)?;
        Ok(Self { instance: Rc::new(RefCell::new(instance)) })
    }

    /// Creates a new root context with this configuration, as a plugin update does in Envoy: `on_context_create`,
    /// `on_vm_start`, `on_configure`.
    ///
    /// `true`: accepted, it serves all requests from now on; older roots stay for their running streams until
    /// [`Vm::retire`]. `false`: refused, the previous one continues to serve.
    pub fn configure(&self, configuration: impl AsRef<[u8]>) -> Result<bool, HostError> {
        let mut instance = self.instance.borrow_mut();
        let configuration = configuration.as_ref().to_vec();
        let length = length_of(&configuration);
        let id = instance.next_id();
        instance.state().roots.insert(id, Root { configuration: Some(configuration), tick_milliseconds: 0 });
        instance.enter(id, "proxy_on_context_create", (int(id), 0))?;
        let vm_length = length_of(&instance.state().vm_configuration);
        let started = instance.ask(id, "proxy_on_vm_start", (int(id), vm_length))?;
        let accepted = started && instance.ask(id, "proxy_on_configure", (int(id), length))?;
        if let Some(root) = instance.state().roots.get_mut(&id) {
            root.configuration = None;
        }
        if accepted {
            instance.serving = Some(id);
        }
        Ok(accepted)
    }

    /// Runs the request callback of the root that serves; several exchanges may be open at the same time.
    pub fn request(&self, head: RequestHead) -> Result<Exchange, HostError> {
        let root = self.serving().ok_or(HostError::NotConfigured)?;
        self.request_on(root, head)
    }

    /// As [`Vm::request`], on a root of the caller's choice (see [`Vm::roots`]).
    pub fn request_on(&self, root: u32, head: RequestHead) -> Result<Exchange, HostError> {
        Exchange::open(Rc::clone(&self.instance), root, head)
    }

    /// The root context that serves requests; none before the first accepted configuration.
    pub fn serving(&self) -> Option<u32> {
        self.instance.borrow().serving
    }

    /// All root contexts, refused ones too, oldest first.
    pub fn roots(&self) -> Vec<u32> {
        self.view().state_ref().roots.keys().copied().collect()
    }

    /// Ends a root context: `on_done`, `on_delete`.
    pub fn retire(&self, root: u32) -> Result<(), HostError> {
        let mut instance = self.instance.borrow_mut();
        instance.ask(root, "proxy_on_done", int(root))?;
        instance.enter(root, "proxy_on_delete", int(root))?;
        instance.state().roots.remove(&root);
        if instance.serving == Some(root) {
            instance.serving = None;
        }
        Ok(())
    }

    /// Runs `on_tick` of every root whose tick period is not 0; the clock is the caller's to move.
    pub fn tick(&self) -> Result<(), HostError> {
        let mut instance = self.instance.borrow_mut();
        let ticking: Vec<u32> = instance
            .state()
            .roots
            .iter()
            .filter(|(_, root)| root.tick_milliseconds > 0)
            .map(|(id, _)| *id)
            .collect();
        ticking.into_iter().try_for_each(|id| instance.enter(id, "proxy_on_tick", int(id)).map(drop))
    }

    /// The tick period that a root requested, in milliseconds; 0 is off, `None` no such root.
    pub fn tick_milliseconds(&self, root: u32) -> Option<u32> {
        self.view().state_ref().roots.get(&root).map(|root| root.tick_milliseconds)
    }

    /// Sets a property of the node, for requests that do not have it themselves.
    pub fn set_property(&self, path: &[&str], value: impl AsRef<[u8]>) {
        let mut instance = self.instance.borrow_mut();
        instance.state().properties.insert(wire::encode_path(path), value.as_ref().to_vec());
    }

    /// What the guest logged so far.
    pub fn logs(&self) -> Vec<LogLine> {
        self.view().state_ref().logs.clone()
    }

    /// The proxy that this VM runs in: clock, metrics, shared data.
    pub fn proxy(&self) -> Proxy {
        self.view().state_ref().proxy.clone()
    }

    /// How often each host function was called so far, by its import name.
    pub fn host_calls(&self) -> BTreeMap<&'static str, u64> {
        self.view().state_ref().host_calls.clone()
    }

    /// Linear memory in bytes; it never shrinks.
    pub fn memory_bytes(&self) -> usize {
        self.view().memory_bytes()
    }

    /// Instructions of all entries so far, configurations and ticks among them.
    pub fn fuel(&self) -> u64 {
        self.view().fuel
    }

    /// Whether the guest has trapped; then nothing can be called any more.
    pub fn is_dead(&self) -> bool {
        self.view().dead
    }

    fn view(&self) -> Ref<'_, Instance> {
        self.instance.borrow()
    }
}

impl VmOptions {
    pub(crate) fn property_map(&self) -> Properties {
        self.properties.iter().map(|(path, value)| (wire::encode_path(path), value.clone())).collect()
    }
}

/// A context id as the guest's integer type.
pub(crate) fn int(id: u32) -> i32 {
    id.cast_signed()
}

fn length_of(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).unwrap_or(i32::MAX)
}
