//! Counters and gauges, defined at first use and bounded in number.

use crate::abi::{self, Metric};
use crate::clock::now_seconds;
use crate::fuse;
use crate::slots::{LATENCY_SLOT, SLOTS, UNANSWERED_SLOT, name_of, slots_of};
use assignment::Identity;
use assignment::contract::Role;
use assignment::policy::Release;
use assignment::{Decision, Policy, Reason};
use canary_filter::fuse::{ResponseCounts, user_of};
use canary_filter::labels::{self, GroupCounter, StatusClass};
use canary_filter::response::{LostSession, Outcome};
use fnv::FnvHashMap;
use std::cell::{Cell, OnceCell, RefCell};

/// The most metrics that one VM defines; past it new ones are not counted. A proxy's memory must not grow with the
/// requests of users, and it does not: names come from the configuration alone. This is the bound for configurations.
const MAX_METRICS: usize = 50_000;

thread_local! {
    /// Kept across configurations: each definition creates a new id in the VM for ever. (A VM has one thread.)
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
pub(crate) fn record(name: &str, value: u64) {
    METRICS.with_borrow_mut(|metrics| {
        if let Some(known) = metrics.known(Metric::Gauge, name).filter(|known| known.recorded != Some(value))
        {
            known.recorded = Some(value);
            abi::record_metric(known.id, value);
        }
    });
}

/// Sets the gauge that reports whether this proxy has never had a valid configuration.
pub(crate) fn record_inert(inert: bool) {
    record(labels::INERT, u64::from(inert));
}

/// The counters of one configuration, by release, version and what is counted.
///
/// Counts are flushed to the proxy once a second: a flush for each request would cost two host calls. A VM that
/// dies takes with it what it counted since.
pub(crate) struct Counters {
    releases: Vec<OnceCell<ReleaseCounters>>,
    reported: Vec<Cell<bool>>,
    /// The slots with unflushed counts: indices of release and slot.
    counting: RefCell<Vec<(usize, usize)>>,
}

/// The counters of one release, made at its first request.
struct ReleaseCounters {
    slots: Box<[Slot]>,
    /// The counts for the fuse since the last flush. Boxed: they are half a kilobyte, and most releases are quiet most of the time.
    for_fuse: Cell<Option<Box<ResponseCounts>>>,
    /// The second at which the fuse closes, as it was shared last.
    fused_until: Cell<u64>,
    /// The second in which that was read.
    fuse_read_at: Cell<u64>,
}

/// A metric of a version.
#[derive(Default)]
struct Slot {
    metric: Cell<Definition>,
    /// The count since the last flush.
    counted: Cell<u32>,
}

/// The metric's id, once it is defined.
#[derive(Clone, Copy, Default)]
enum Definition {
    #[default]
    New,
    Known(u32),
    Refused,
}

impl Counters {
    pub(crate) fn new(policy: &Policy) -> Self {
        let releases = policy.releases();
        Self {
            releases: releases.iter().map(|_| OnceCell::new()).collect(),
            reported: releases.iter().map(|_| Cell::new(false)).collect(),
            counting: RefCell::default(),
        }
    }

    /// Counts a request, and reports once that this worker runs this generation.
    pub(crate) fn count_request(&self, release: &Release, decision: &Decision) {
        self.count(release, decision, decision.reason as usize);
        self.count_by_group(release, decision, GroupCounter::Requests);
        self.report_generation(decision.release, release);
    }

    pub(crate) fn count_response(&self, release: &Release, decision: &Decision, outcome: Outcome) {
        let class = outcome.class;
        let is_override = decision.reason == Reason::Override;
        let classes = StatusClass::ALL.len();
        let slot = Reason::ALL.len() + if is_override { classes } else { 0 } + class as usize;
        self.count(release, decision, slot);
        self.count_by_group(release, decision, GroupCounter::Responses);
        if outcome.has_failed {
            self.count_failed(release, decision);
        } else if class == StatusClass::ClientError {
            self.count_by_group(release, decision, GroupCounter::ClientErrors);
        }
    }

    /// Counts a response that has failed with its headers or after them.
    pub(crate) fn count_failed(&self, release: &Release, decision: &Decision) {
        self.count_by_group(release, decision, GroupCounter::ServerErrors);
    }

    /// Counts a request that has no response.
    pub(crate) fn count_unanswered(&self, release: &Release, decision: &Decision) {
        self.count_by_group(release, decision, GroupCounter::Unanswered);
        if release.fuse {
            self.count(release, decision, UNANSWERED_SLOT);
            self.count_for_fuse(release, decision, true);
        }
    }

    /// Counts a response that takes the session from its request.
    pub(crate) fn count_lost_session(&self, release: &Release, decision: &Decision, lost: LostSession) {
        self.count_by_group(release, decision, GroupCounter::LostSessions);
        if lost == LostSession::Emptied {
            self.count_by_group(release, decision, GroupCounter::EmptiedSessions);
        }
    }

    /// Counts a response, or a request without one, for the fuse.
    pub(crate) fn count_for_fuse(&self, release: &Release, decision: &Decision, has_failed: bool) {
        if !release.fuse || decision.reason == Reason::Override {
            return;
        }
        let Some(counters) = self.releases.get(decision.release).and_then(OnceCell::get) else { return };
        let is_canary = match release.versions.get(decision.version).map(|version| version.role) {
            Some(Role::Canary) => true,
            Some(Role::Stable) => false,
            _ => return,
        };
        let mut counts = counters.for_fuse.take().unwrap_or_default();
        let version = if is_canary { &mut counts.canary } else { &mut counts.stable };
        version.count(user_of(decision), has_failed);
        counters.for_fuse.set(Some(counts));
    }

    /// Whether the fuse of a release is open. What the workers share is read once a second at most.
    pub(crate) fn is_fused(&self, policy: &Policy, index: usize) -> bool {
        let Some(release) = policy.release(index) else { return false };
        let Some(counters) = self.release(index, release) else { return false };
        let now = now_seconds();
        if counters.fuse_read_at.replace(now) != now {
            counters.fused_until.set(fuse::add(release, None, now));
        }
        now < counters.fused_until.get()
    }

    fn count_by_group(&self, release: &Release, decision: &Decision, what: GroupCounter) {
        let Some(identity) = decision.identity.filter(|_| labels::is_counted_by_group(release, decision))
        else {
            return;
        };
        self.count(release, decision, SLOTS + what as usize * Identity::GROUPS + identity.group());
    }

    /// Counts a response that was slow, and records the time that it took where the release enables it.
    pub(crate) fn keep_latency(&self, release: &Release, decision: &Decision, milliseconds: u64) {
        if (1..milliseconds).contains(&release.slower_than_milliseconds) {
            self.count_by_group(release, decision, GroupCounter::SlowResponses);
        }
        if !release.latency_histogram {
            return;
        }
        let is_override = decision.reason == Reason::Override;
        let slot = LATENCY_SLOT + usize::from(is_override);
        let id = self.slot(release, decision, slot).and_then(|slot| {
            slot.id(Metric::Histogram, || {
                Some(labels::latency(release, release.versions.get(decision.version)?, is_override))
            })
        });
        if let Some(id) = id {
            abi::record_metric(id, milliseconds);
        }
    }

    fn count(&self, release: &Release, decision: &Decision, slot: usize) {
        let Some(found) = self.slot(release, decision, slot) else {
            return;
        };
        let counted = found.counted.get();
        if counted == 0 {
            let slot = decision.version * slots_of(release) + slot;
            self.counting.borrow_mut().push((decision.release, slot));
        }
        found.counted.set(counted.saturating_add(1));
    }

    fn slot(&self, release: &Release, decision: &Decision, slot: usize) -> Option<&Slot> {
        self.release(decision.release, release)?.slots.get(decision.version * slots_of(release) + slot)
    }

    fn release(&self, index: usize, release: &Release) -> Option<&ReleaseCounters> {
        let counters = self.releases.get(index)?;
        Some(counters.get_or_init(|| ReleaseCounters {
            slots: (0..release.versions.len() * slots_of(release)).map(|_| Slot::default()).collect(),
            for_fuse: Cell::default(),
            fused_until: Cell::default(),
            fuse_read_at: Cell::default(),
        }))
    }

    /// Flushes what was counted since the last flush to the proxy, and to the fuses.
    pub(crate) fn flush(&self, policy: &Policy) {
        let mut fused = Vec::new();
        for (release_index, index) in self.counting.borrow_mut().drain(..) {
            let counters = self.releases.get(release_index).and_then(OnceCell::get);
            let (Some(counters), Some(release)) = (counters, policy.release(release_index)) else { continue };
            let Some(slot) = counters.slots.get(index) else { continue };
            let counted = slot.counted.take();
            let id = slot.id(Metric::Counter, || name_of(release, index));
            if let Some(id) = id {
                abi::increment_metric(id, counted.into());
            }
            if let Some(counts) = counters.for_fuse.take() {
                fused.push((release, counters, counts));
            }
        }
        for (release, counters, counts) in fused {
            counters.fused_until.set(fuse::add(release, Some(&counts), now_seconds()));
        }
    }

    /// Sets the gauge of a release's generation, once for each configuration and worker.
    fn report_generation(&self, index: usize, release: &Release) {
        if self.reported.get(index).is_some_and(|reported| !reported.replace(true)) {
            record(&labels::generation(release), release.generation);
        }
    }

    /// Reports up to `most` releases that have not been reported; those that changed last come first. Returns whether
    /// any are left.
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

impl Slot {
    /// The metric's id. The metric is defined at its first use.
    fn id(&self, kind: Metric, name: impl FnOnce() -> Option<String>) -> Option<u32> {
        if let Definition::New = self.metric.get() {
            let id = name().and_then(|name| id_of(kind, &name));
            self.metric.set(id.map_or(Definition::Refused, Definition::Known));
        }
        match self.metric.get() {
            Definition::Known(id) => Some(id),
            Definition::New | Definition::Refused => None,
        }
    }
}
