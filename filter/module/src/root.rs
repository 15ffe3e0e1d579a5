//! The configuration: accepted, refused, or – for the first one – accepted without effect.
//!
//! A refused update leaves the old configuration in force. A refused *first* configuration would be an error for every
//! request (or leave the proxy on its default for ever), so the first one is never refused: the filter is inert, all
//! users are on stable, and a metric reports it.
//!
//! Envoy caches the result of `proxy_on_configure` for each text and calls it once (proxy-wasm-cpp-host,
//! `WasmHandleBase::plugin_canary_cache_`). A text that was accepted as a first configuration is sent to every worker
//! when it is configured again, and a worker that refused it then would have no filter. So it is accepted again, and
//! the last valid configuration stays in force under its name.

use crate::abi::{self, Level};
use crate::clock;
use crate::metrics::{self, Counters};
use crate::stream::Stream;
use assignment::seal::VerifiedCache;
use assignment::{Identity, Policy};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Set once a good configuration has been in force; shared by all VMs of the process.
const HAD_GOOD_CONFIGURATION: &str = "canary.configured";

/// Followed by a text's hash: set once that text has been accepted as a first configuration; shared likewise.
const ACCEPTED_INERT: &str = "canary.inert.";

/// The time from a configuration to its report by the workers, milliseconds: long enough for every worker to have it.
const REPORT_AFTER_MILLISECONDS: u32 = 50;

/// The period in which a worker reads its clock and flushes its counters, milliseconds, once all is reported.
const TICK_MILLISECONDS: u32 = 1_000;

/// The releases that are reported in one tick, so that ten thousand of them do not hold a worker up.
const REPORTS_PER_TICK: usize = 512;

thread_local! {
    /// The last good configuration of this VM. (A VM has one thread.)
    static LAST_GOOD: RefCell<Option<Rc<ActiveConfig>>> = const { RefCell::new(None) };
}

/// One configuration in force, with the counters that go with it.
pub(crate) struct ActiveConfig {
    pub(crate) policy: Policy,
    pub(crate) counters: Counters,
    /// Pins and ids that its keys have verified. (A VM has one thread.)
    pub(crate) verified: RefCell<VerifiedCache>,
}

/// The root context: one for each configuration that Envoy starts in this VM.
pub(crate) struct Root {
    config: Rc<ActiveConfig>,
    /// Whether it ticks fast, because generations are left to report.
    is_reporting: Cell<bool>,
}

impl Default for Root {
    fn default() -> Self {
        Self { config: Rc::new(ActiveConfig::new(Policy::inert())), is_reporting: Cell::new(false) }
    }
}

impl ActiveConfig {
    fn new(policy: Policy) -> Self {
        Self { counters: Counters::new(&policy), policy, verified: RefCell::default() }
    }
}

impl Root {
    /// Takes a configuration of `size` bytes; `false` refuses it.
    pub(crate) fn configure(&mut self, size: usize) -> bool {
        clock::update();
        abi::set_tick_period(TICK_MILLISECONDS);
        let text = abi::plugin_configuration(size);
        let text = text.as_deref().unwrap_or_default();
        let error = match Policy::from_json(text) {
            Ok(policy) => {
                self.take(policy);
                return true;
            }
            Err(error) => error.to_line(),
        };
        let accepted_inert = format!("{ACCEPTED_INERT}{}", Identity::of_key(text));
        let had_good = has_shared(HAD_GOOD_CONFIGURATION);
        if had_good && !has_shared(&accepted_inert) {
            abi::log(Level::Error, &format!("canary: configuration refused, the old one stays: {error}"));
            return false;
        }
        abi::set_shared_data(&accepted_inert, b"1", 0);
        self.fall_back(&error);
        true
    }

    fn take(&mut self, policy: Policy) {
        abi::set_shared_data(HAD_GOOD_CONFIGURATION, b"1", 0);
        metrics::record_inert(false);
        abi::set_tick_period(REPORT_AFTER_MILLISECONDS);
        self.is_reporting.set(true);
        self.config = Rc::new(ActiveConfig::new(policy));
        LAST_GOOD.set(Some(Rc::clone(&self.config)));
    }

    /// Keeps the last good configuration; without one the filter stays inert.
    fn fall_back(&mut self, error: &str) {
        if let Some(config) = LAST_GOOD.with_borrow(Option::clone) {
            abi::log(Level::Error, &format!("canary: configuration not taken, the old one stays: {error}"));
            self.config = config;
            return;
        }
        abi::log(
            Level::Error,
            &format!("canary: no usable configuration yet, everyone is on stable: {error}"),
        );
        metrics::record_inert(true);
    }

    /// Flushes the counters, and reports generations, some releases at a time, until all are.
    pub(crate) fn tick(&self) {
        self.flush();
        if self.is_reporting.get() && !self.config.counters.report_some(&self.config.policy, REPORTS_PER_TICK)
        {
            self.is_reporting.set(false);
            abi::set_tick_period(TICK_MILLISECONDS);
        }
    }

    /// Flushes the counters of this configuration to the proxy.
    pub(crate) fn flush(&self) {
        self.config.counters.flush(&self.config.policy);
    }

    /// The state of a request that begins under this configuration.
    pub(crate) fn stream(&self) -> Stream {
        Stream::new(Rc::clone(&self.config))
    }
}

/// Whether a VM of this process has set this mark.
fn has_shared(mark: &str) -> bool {
    abi::shared_data(mark).0.is_some_and(|value| !value.is_empty())
}
