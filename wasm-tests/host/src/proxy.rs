//! What belongs to the proxy process rather than to one VM: the clock, the statistics, the shared data.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::metrics::Metrics;
use super::shared_data::SharedData;

/// 2026-01-01T00:00:00Z: a fixed start, so that two runs of a test see the same times.
const START: Duration = Duration::from_hours(490_896);

/// One proxy process; clones are handles to the same one. VMs started in it share all its state, as Envoy's workers do.
#[derive(Clone, Debug)]
pub struct Proxy {
    held: Arc<Mutex<Held>>,
}

/// The state behind a [`Proxy`].
#[derive(Debug)]
pub(crate) struct Held {
    /// Nanoseconds since the Unix epoch.
    pub(crate) now: u64,
    pub(crate) metrics: Metrics,
    pub(crate) shared_data: SharedData,
}

impl Default for Proxy {
    fn default() -> Self {
        Self::new()
    }
}

impl Proxy {
    /// A fresh process; its clock starts at 2026-01-01T00:00:00Z and changes only when the test sets it.
    pub fn new() -> Self {
        let held =
            Held { now: nanoseconds(START), metrics: Metrics::default(), shared_data: SharedData::default() };
        Self { held: Arc::new(Mutex::new(held)) }
    }

    /// The clock, in nanoseconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        self.held().now
    }

    /// Sets the clock, in nanoseconds since the Unix epoch; backwards is allowed.
    pub fn set_now(&self, nanoseconds: u64) {
        self.held().now = nanoseconds;
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut held = self.held();
        held.now = held.now.saturating_add(nanoseconds(by));
    }

    /// The value of a counter or gauge under the name the guest defined it with; `None` before its definition.
    pub fn metric(&self, name: &str) -> Option<u64> {
        self.metrics().remove(name)
    }

    /// All counters and gauges.
    pub fn metrics(&self) -> BTreeMap<String, u64> {
        self.held().metrics.values()
    }

    /// The sum of all counters and gauges whose name contains every one of these parts.
    pub fn metrics_with(&self, parts: &[&str]) -> u64 {
        let metrics = self.metrics();
        metrics.iter().filter(|(name, _)| parts.iter().all(|part| name.contains(part))).map(|(_, v)| v).sum()
    }

    /// What a histogram collected, in order; `None` before its definition.
    pub fn recorded(&self, name: &str) -> Option<Vec<u64>> {
        self.held().metrics.recorded(name).map(<[u64]>::to_vec)
    }

    /// A value of the shared data; `None` if it is not set.
    pub fn shared_data(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        self.held().shared_data.get(key.as_ref()).map(|(value, _)| value.to_vec())
    }

    /// Sets a value of the shared data, as another VM of the process does.
    pub fn share(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        // Without a number it always succeeds.
        let _ = self.held().shared_data.set(key.as_ref(), value.as_ref(), 0);
    }

    /// From now on so many compare-and-swaps of shared data meet a write of another VM in between, of the same value.
    pub fn overtake(&self, writes: u32) {
        self.held().shared_data.overtaken = writes;
    }

    /// The state, whatever happened to another holder: a test that panicked must not hide what it saw.
    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
