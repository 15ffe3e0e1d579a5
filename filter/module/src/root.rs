//! The configuration: taken, refused, or – the first one – replaced by doing nothing.
//!
//! A refused update leaves the old configuration in force. A refused *first* configuration would be an error for every
//! request (or leave the proxy on its default for ever), so the first one is never refused: the filter goes inert,
//! everyone is on stable, and a metric says so.
//!
//! Envoy keeps our answer to each text and asks once (proxy-wasm-cpp-host, `WasmHandleBase::plugin_canary_cache_`): a text
//! that was accepted so goes to every worker when it comes again, and a worker that refused it then would be without a
//! filter. So it is not refused; the last good configuration goes on under its name.

use crate::abi::{self, Level};
use crate::clock;
use crate::metrics::{self, Counters};
use crate::stream::Stream;
use assignment::seal::Remembered;
use assignment::{Identity, Policy};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Set once a good configuration has been in force; shared by all VMs of the process.
const HAD_GOOD_CONFIGURATION: &str = "canary.configured";

/// Followed by a text's hash: set once that text has been accepted as a first configuration; shared likewise.
const ACCEPTED_INERT: &str = "canary.inert.";

/// How long after a configuration the workers report it, milliseconds: long enough for every worker to have it.
const REPORT_AFTER_MILLISECONDS: u32 = 50;

/// How often a worker reads its clock and tells what it has counted, milliseconds, once all is reported.
const TICK_MILLISECONDS: u32 = 1_000;

/// How many releases are reported in one tick, so that ten thousand of them do not hold a worker up.
const REPORTS_PER_TICK: usize = 512;

thread_local! {
    /// The last good configuration of this VM. (A VM has one thread.)
    static LAST_GOOD: RefCell<Option<Rc<Active>>> = const { RefCell::new(None) };
}

/// One configuration in force, with the counters that go with it.
pub(crate) struct Active {
    pub(crate) policy: Policy,
    pub(crate) counters: Counters,
    /// Pins and ids that its keys have verified. (A VM has one thread.)
    pub(crate) remembered: RefCell<Remembered>,
}

/// The root context: one for each configuration that Envoy starts in this VM.
pub(crate) struct Root {
    active: Rc<Active>,
    /// Whether it ticks fast, because generations are left to report.
    is_reporting: Cell<bool>,
}

impl Default for Root {
    fn default() -> Self {
        Self { active: Rc::new(Active::new(Policy::inert())), is_reporting: Cell::new(false) }
    }
}

impl Active {
    fn new(policy: Policy) -> Self {
        Self { counters: Counters::new(&policy), policy, remembered: RefCell::default() }
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
        let had_good = abi::has_shared_data(HAD_GOOD_CONFIGURATION);
        if had_good && !abi::has_shared_data(&accepted_inert) {
            abi::log(Level::Error, &format!("canary: configuration refused, the old one stays: {error}"));
            return false;
        }
        abi::set_shared_data(&accepted_inert, b"1");
        self.do_without(&error);
        true
    }

    fn take(&mut self, policy: Policy) {
        abi::set_shared_data(HAD_GOOD_CONFIGURATION, b"1");
        metrics::record_inert(false);
        abi::set_tick_period(REPORT_AFTER_MILLISECONDS);
        self.is_reporting.set(true);
        self.active = Rc::new(Active::new(policy));
        LAST_GOOD.set(Some(Rc::clone(&self.active)));
    }

    /// Goes on with the last good configuration; without one, with nothing.
    fn do_without(&mut self, error: &str) {
        if let Some(active) = LAST_GOOD.with_borrow(Option::clone) {
            abi::log(Level::Error, &format!("canary: configuration not taken, the old one stays: {error}"));
            self.active = active;
            return;
        }
        abi::log(
            Level::Error,
            &format!("canary: no usable configuration yet, everyone is on stable: {error}"),
        );
        metrics::record_inert(true);
    }

    /// Reads the clock, tells what was counted, and reports generations, some releases at a time, until all are.
    pub(crate) fn tick(&self) {
        clock::update();
        self.tell();
        if self.is_reporting.get() && !self.active.counters.report_some(&self.active.policy, REPORTS_PER_TICK)
        {
            self.is_reporting.set(false);
            abi::set_tick_period(TICK_MILLISECONDS);
        }
    }

    /// Tells the proxy what was counted under this configuration.
    pub(crate) fn tell(&self) {
        self.active.counters.tell(&self.active.policy);
    }

    /// The state of a request that begins under this configuration.
    pub(crate) fn stream(&self) -> Stream {
        Stream::new(Rc::clone(&self.active))
    }
}
