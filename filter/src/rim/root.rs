//! The configuration: taken, refused, or – the first one – replaced by doing nothing.
//!
//! A refused update leaves the old configuration in force. A refused *first* configuration would be an error for every
//! request (or leave the proxy on its default for ever), so the first one is never refused: the filter goes inert,
//! everyone is on stable, and a metric says so.

use super::abi::{self, Level};
use super::metrics::{self, Counters};
use super::stream::Stream;
use assignment::Policy;
use std::rc::Rc;

/// Set once a good configuration has been in force; shared by all VMs of the process.
const HAD_GOOD_CONFIGURATION: &str = "canary.configured";

/// How long after a configuration the workers report it, milliseconds: long enough for every worker to have it.
const REPORT_AFTER_MILLISECONDS: u32 = 50;

/// How many releases are reported in one tick, so that ten thousand of them do not hold a worker up.
const REPORTS_PER_TICK: usize = 512;

/// One configuration in force, with the counters that go with it.
pub(super) struct Active {
    pub(super) policy: Policy,
    pub(super) counters: Counters,
}

/// The root context: one for each configuration that Envoy starts in this VM.
pub(super) struct Root {
    active: Rc<Active>,
}

impl Default for Root {
    fn default() -> Self {
        Self { active: Rc::new(Active::new(Policy::inert())) }
    }
}

impl Active {
    fn new(policy: Policy) -> Self {
        Self { counters: Counters::new(&policy), policy }
    }
}

impl Root {
    /// Takes a configuration of `size` bytes; `false` refuses it.
    pub(super) fn configure(&mut self, size: usize) -> bool {
        match Policy::from_json(&abi::plugin_configuration(size)) {
            Ok(policy) => {
                abi::set_shared_data(HAD_GOOD_CONFIGURATION, b"1");
                metrics::record_inert(false);
                abi::set_tick_period(REPORT_AFTER_MILLISECONDS);
                self.active = Rc::new(Active::new(policy));
                true
            }
            Err(error) if abi::has_shared_data(HAD_GOOD_CONFIGURATION) => {
                abi::log(
                    Level::Error,
                    &format!("canary: configuration refused, the old one stays: {}", error.to_line()),
                );
                false
            }
            Err(error) => {
                let said = error.to_line();
                abi::log(
                    Level::Error,
                    &format!("canary: no usable configuration yet, everyone is on stable: {said}"),
                );
                metrics::record_inert(true);
                self.active = Rc::new(Active::new(Policy::inert()));
                true
            }
        }
    }

    /// Reports generations, some releases at a time, until all are.
    pub(super) fn tick(&self) {
        let any_left = self.active.counters.report_some(&self.active.policy, REPORTS_PER_TICK);
        if !any_left {
            abi::set_tick_period(0);
        }
    }

    /// The state of a request that begins under this configuration.
    pub(super) fn stream(&self) -> Stream {
        Stream::new(Rc::clone(&self.active))
    }
}
