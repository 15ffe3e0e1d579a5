//! Counters and gauges, defined at first use and bounded in number.

use super::abi::{self, Metric};
use crate::labels::{self, StatusClass};
use assignment::contract::Role;
use assignment::policy::Release;
use assignment::{Decision, Policy, Reason};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

/// The most metrics that one VM defines; past it new ones are not counted. Proxies must not grow with what users do,
/// and they cannot here: names come from the configuration alone. This is the bound for configurations.
const MAX_METRICS: usize = 50_000;

thread_local! {
    /// Ids by name, kept across configurations: each definition makes a new id in the VM for ever. (A VM has one thread.)
    static IDS: RefCell<HashMap<String, u32>> = RefCell::new(HashMap::new());
    /// The generation that this VM reported last, by release.
    static REPORTED: RefCell<HashMap<String, u64>> = RefCell::new(HashMap::new());
}

fn id_of(kind: Metric, name: String) -> Option<u32> {
    IDS.with_borrow_mut(|ids| {
        if let Some(id) = ids.get(&name) {
            return Some(*id);
        }
        if ids.len() >= MAX_METRICS {
            return None;
        }
        let id = abi::define_metric(kind, &name)?;
        ids.insert(name, id);
        Some(id)
    })
}

/// Sets the gauge that says whether this proxy never had a good configuration.
pub(super) fn record_inert(inert: bool) {
    if let Some(id) = id_of(Metric::Gauge, labels::INERT.to_owned()) {
        abi::record_metric(id, u64::from(inert));
    }
}

/// The counters of one configuration: metric ids by release, version and what is counted.
pub(super) struct Counters {
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

/// Slots of one version: reasons, then status classes, then the testers' status classes.
const SLOTS: usize = Reason::ALL.len() + 2 * StatusClass::ALL.len();

impl Counters {
    pub(super) fn new(policy: &Policy) -> Self {
        let releases = policy.releases();
        Self {
            releases: releases.iter().map(|_| OnceCell::new()).collect(),
            reported: releases.iter().map(|_| Cell::new(false)).collect(),
        }
    }

    /// Counts a request, and says once that this worker runs this generation.
    pub(super) fn count_request(&self, policy: &Policy, decision: &Decision) {
        let Some(release) = policy.release(decision.release) else {
            return;
        };
        self.count(release, decision, decision.reason as usize, || {
            Some(labels::requests(release, release.versions.get(decision.version)?, decision.reason))
        });
        self.report_generation(decision.release, release);
    }

    /// Counts an answer.
    pub(super) fn count_response(&self, release: &Release, decision: &Decision, class: StatusClass) {
        let is_override = decision.reason == Reason::Override;
        let classes = StatusClass::ALL.len();
        let slot = Reason::ALL.len() + if is_override { classes } else { 0 } + class as usize;
        self.count(release, decision, slot, || {
            Some(labels::responses(release, release.versions.get(decision.version)?, is_override, class))
        });
    }

    fn count(
        &self,
        release: &Release,
        decision: &Decision,
        slot: usize,
        name: impl FnOnce() -> Option<String>,
    ) {
        let Some(cell) = self.releases.get(decision.release) else {
            return;
        };
        let slots =
            cell.get_or_init(|| (0..release.versions.len() * SLOTS).map(|_| Cell::new(Slot::New)).collect());
        let Some(slot) = slots.get(decision.version * SLOTS + slot) else {
            return;
        };
        if let Slot::New = slot.get() {
            let id = name().and_then(|name| id_of(Metric::Counter, name));
            slot.set(id.map_or(Slot::Refused, Slot::Known));
        }
        if let Slot::Known(id) = slot.get() {
            abi::increment_metric(id);
        }
    }

    /// Sets the gauge of a release's generation, once for each configuration and worker.
    fn report_generation(&self, index: usize, release: &Release) {
        let Some(reported) = self.reported.get(index).filter(|reported| !reported.get()) else {
            return;
        };
        reported.set(true);
        let is_news = REPORTED.with_borrow_mut(|reported| {
            reported.insert(release.name.clone(), release.generation) != Some(release.generation)
        });
        if let Some(id) = id_of(Metric::Gauge, labels::generation(release)).filter(|_| is_news) {
            abi::record_metric(id, release.generation);
        }
    }

    /// Reports up to `most` releases whose generation has not been reported; those that changed first. Says whether
    /// any are left.
    pub(super) fn report_some(&self, policy: &Policy, most: usize) -> bool {
        let waiting = || policy.releases().iter().enumerate().filter(|(index, _)| !self.is_reported(*index));
        let changed = |release: &Release| {
            REPORTED.with_borrow(|reported| reported.get(&release.name) != Some(&release.generation))
        };
        let (first, rest): (Vec<_>, Vec<_>) = waiting().partition(|(_, release)| changed(release));
        let left = first.len() + rest.len();
        for (index, release) in first.into_iter().chain(rest).take(most) {
            self.report_generation(index, release);
        }
        left > most
    }

    fn is_reported(&self, index: usize) -> bool {
        self.reported.get(index).is_none_or(Cell::get)
    }
}

/// Roles and reasons are looked up by their place in the list; the compiler checks what the slots rely on.
const _: () = {
    assert!(Reason::Unavailable as usize == Reason::ALL.len() - 1);
    assert!(StatusClass::ServerError as usize == StatusClass::ALL.len() - 1);
    assert!(Role::Draining as usize == 2);
};
