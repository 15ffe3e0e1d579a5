//! Counters and gauges, defined at first use and bounded in number.

use crate::abi::{self, Metric};
use assignment::contract::Role;
use assignment::policy::Release;
use assignment::{Decision, Policy, Reason};
use canary_filter::labels::{self, StatusClass};
use fnv::FnvHashMap;
use std::cell::{Cell, OnceCell, RefCell};

/// The most metrics that one VM defines; past it new ones are not counted. Proxies must not grow with what users do,
/// and they cannot here: names come from the configuration alone. This is the bound for configurations.
const MAX_METRICS: usize = 50_000;

thread_local! {
    /// Kept across configurations: each definition makes a new id in the VM for ever. (A VM has one thread.)
    static METRICS: RefCell<Metrics> = RefCell::new(Metrics::default());
}

/// The metrics that this VM has defined. (The map is of the type that hosts have: another one would be 2 kB of module.)
#[derive(Default)]
struct Metrics {
    /// Indices into `known` by name.
    by_name: FnvHashMap<Box<[u8]>, usize>,
    known: Vec<Known>,
}

/// A metric that this VM has defined.
#[derive(Clone, Copy)]
struct Known {
    id: u32,
    /// The value that a gauge was set to last.
    recorded: Option<u64>,
}

impl Metrics {
    fn known(&mut self, kind: Metric, name: &str) -> Option<&mut Known> {
        let index = match self.by_name.get(name.as_bytes()) {
            Some(index) => *index,
            None if self.known.len() >= MAX_METRICS => return None,
            None => {
                let index = self.known.len();
                self.known.push(Known { id: abi::define_metric(kind, name)?, recorded: None });
                self.by_name.insert(name.as_bytes().into(), index);
                index
            }
        };
        self.known.get_mut(index)
    }
}

/// The id of a metric, defined at first use.
fn id_of(kind: Metric, name: &str) -> Option<u32> {
    METRICS.with_borrow_mut(|metrics| metrics.known(kind, name).map(|known| known.id))
}

/// Sets a gauge, unless this VM set it to that value already.
fn record(name: &str, value: u64) {
    METRICS.with_borrow_mut(|metrics| {
        if let Some(known) = metrics.known(Metric::Gauge, name).filter(|known| known.recorded != Some(value))
        {
            known.recorded = Some(value);
            abi::record_metric(known.id, value);
        }
    });
}

/// Sets the gauge that says whether this proxy never had a good configuration.
pub(crate) fn record_inert(inert: bool) {
    record(labels::INERT, u64::from(inert));
}

/// The counters of one configuration: metric ids by release, version and what is counted.
pub(crate) struct Counters {
    releases: Vec<OnceCell<Box<[Cell<Slot>]>>>,
    reported: Vec<Cell<bool>>,
}

/// A metric id that may not have been asked for yet.
#[derive(Clone, Copy)]
enum Slot {
    New,
    Known(u32),
    Refused,
}

/// Slots of one version: reasons, then status classes, then the testers' status classes, then latency and the testers'.
const SLOTS: usize = LATENCY_SLOT + 2;
const LATENCY_SLOT: usize = Reason::ALL.len() + 2 * StatusClass::ALL.len();

impl Counters {
    pub(crate) fn new(policy: &Policy) -> Self {
        let releases = policy.releases();
        Self {
            releases: releases.iter().map(|_| OnceCell::new()).collect(),
            reported: releases.iter().map(|_| Cell::new(false)).collect(),
        }
    }

    /// Counts a request, and says once that this worker runs this generation.
    pub(crate) fn count_request(&self, policy: &Policy, decision: &Decision) {
        let Some(release) = policy.release(decision.release) else {
            return;
        };
        let id = self.id(release, decision, Metric::Counter, decision.reason as usize, || {
            Some(labels::requests(release, release.versions.get(decision.version)?, decision.reason))
        });
        if let Some(id) = id {
            abi::increment_metric(id);
        }
        self.report_generation(decision.release, release);
    }

    /// Counts an answer.
    pub(crate) fn count_response(&self, release: &Release, decision: &Decision, class: StatusClass) {
        let is_override = decision.reason == Reason::Override;
        let classes = StatusClass::ALL.len();
        let slot = Reason::ALL.len() + if is_override { classes } else { 0 } + class as usize;
        let id = self.id(release, decision, Metric::Counter, slot, || {
            Some(labels::responses(release, release.versions.get(decision.version)?, is_override, class))
        });
        if let Some(id) = id {
            abi::increment_metric(id);
        }
    }

    /// Keeps the time that an answer took.
    pub(crate) fn keep_latency(&self, release: &Release, decision: &Decision, milliseconds: u64) {
        let is_override = decision.reason == Reason::Override;
        let id =
            self.id(release, decision, Metric::Histogram, LATENCY_SLOT + usize::from(is_override), || {
                Some(labels::latency(release, release.versions.get(decision.version)?, is_override))
            });
        if let Some(id) = id {
            abi::record_metric(id, milliseconds);
        }
    }

    /// The metric in a slot, defined at first use.
    fn id(
        &self,
        release: &Release,
        decision: &Decision,
        kind: Metric,
        slot: usize,
        name: impl FnOnce() -> Option<String>,
    ) -> Option<u32> {
        let cell = self.releases.get(decision.release)?;
        let slots =
            cell.get_or_init(|| (0..release.versions.len() * SLOTS).map(|_| Cell::new(Slot::New)).collect());
        let slot = slots.get(decision.version * SLOTS + slot)?;
        if let Slot::New = slot.get() {
            let id = name().and_then(|name| id_of(kind, &name));
            slot.set(id.map_or(Slot::Refused, Slot::Known));
        }
        match slot.get() {
            Slot::Known(id) => Some(id),
            Slot::New | Slot::Refused => None,
        }
    }

    /// Sets the gauge of a release's generation, once for each configuration and worker.
    fn report_generation(&self, index: usize, release: &Release) {
        if self.reported.get(index).is_some_and(|reported| !reported.replace(true)) {
            record(&labels::generation(release), release.generation);
        }
    }

    /// Reports up to `most` releases that have not been reported; those that changed last come first. Says whether any
    /// are left.
    pub(crate) fn report_some(&self, policy: &Policy, most: usize) -> bool {
        let is_waiting =
            |(index, _): &(usize, &Release)| self.reported.get(*index).is_some_and(|cell| !cell.get());
        let waiting = || policy.releases().iter().enumerate().filter(is_waiting);
        let newest = waiting().map(|(_, release)| release.generation).max();
        for (index, release) in waiting().filter(|(_, release)| Some(release.generation) == newest).take(most)
        {
            self.report_generation(index, release);
        }
        for (index, release) in waiting().take(most) {
            self.report_generation(index, release);
        }
        waiting().next().is_some()
    }
}

/// Roles and reasons are looked up by their place in the list; the compiler checks what the slots rely on.
const _: () = {
    assert!(Reason::Unavailable as usize == Reason::ALL.len() - 1);
    assert!(StatusClass::ServerError as usize == StatusClass::ALL.len() - 1);
    assert!(Role::Draining as usize == 2);
};
