//! What the next observation is compared with.

use super::GroupCounters;
use super::train::{InnerCounters, TrainCounters};
use canary_release::evidence::{IntervalCounts, PodRestarts, ProxyCounters};
use canary_release::record::Record;
use canary_release::rollout::{InnerIntervals, InnerRelease};
use canary_release::spec::ReleaseName;
use std::collections::BTreeMap;

/// The counters of the last observations, since the weight was set.
#[derive(Clone)]
pub(super) struct Baseline {
    pub(super) generation: u64,
    /// The number of intervals in the record's evidence when they were observed.
    intervals: u64,
    own: Readings,
    train: BTreeMap<ReleaseName, (InnerRelease, Readings)>,
    restarts: PodRestarts,
}

/// The last two readings of the same counters.
#[derive(Clone)]
struct Readings {
    before: Option<ProxyCounters>,
    last: ProxyCounters,
}

/// What was counted since the last observation.
pub(super) struct Interval {
    /// The number of intervals that the record had then.
    known: u64,
    pub(super) counts: IntervalCounts,
    /// The same of the other releases of the train that were observed both times.
    pub(super) train: InnerIntervals,
}

impl Interval {
    /// Adds it to the evidence, unless another driver has added one meanwhile. Whether it was added.
    pub(super) fn add_to(&self, record: &mut Record) -> bool {
        record.add_evidence(self.known, &self.counts, &self.train)
    }
}

impl Readings {
    fn followed_by(earlier: Option<Self>, last: ProxyCounters) -> Self {
        Self { before: earlier.map(|earlier| earlier.last), last }
    }

    fn interval(&self, now: &ProxyCounters) -> IntervalCounts {
        IntervalCounts::between(self.before.as_ref(), &self.last, now)
    }
}

impl Baseline {
    /// From now on the counters are compared with these.
    pub(super) fn next(
        earlier: Option<Self>,
        record: &Record,
        observed: GroupCounters,
        train: TrainCounters,
    ) -> Self {
        let generation = record.state.generation;
        let earlier = earlier.filter(|earlier| earlier.generation == generation);
        let intervals = record.rollout.as_ref().map_or(0, |rollout| rollout.evidence.intervals);
        let GroupCounters { counters, restarts, .. } = observed;
        let (own, mut inner) = earlier.map(|earlier| (earlier.own, earlier.train)).unzip();
        let mut of_release =
            |(name, InnerCounters { release, counters, .. }): (ReleaseName, InnerCounters)| {
                let earlier = inner.as_mut().and_then(|inner| inner.remove(&name));
                let earlier = earlier.filter(|(of, _)| *of == release).map(|(_, readings)| readings);
                (name, (release, Readings::followed_by(earlier, counters)))
            };
        let train = train.into_counters().map(&mut of_release).collect();
        Self { generation, intervals, own: Readings::followed_by(own, counters), train, restarts }
    }

    /// What was counted since. None where the weight has changed in between.
    pub(super) fn interval(
        &self,
        record: &Record,
        observed: &GroupCounters,
        train: &TrainCounters,
    ) -> Option<Interval> {
        if self.generation != record.state.generation {
            return None;
        }
        let restarts = PodRestarts::between(&self.restarts, &observed.restarts);
        let counts = IntervalCounts { restarts, ..self.own.interval(&observed.counters) };
        let of_release = |(name, inner): (&ReleaseName, &InnerCounters)| {
            let (_, earlier) = self.train.get(name).filter(|(of, _)| *of == inner.release)?;
            Some((name.clone(), earlier.interval(&inner.counters)))
        };
        Some(Interval {
            known: self.intervals,
            counts,
            train: train.counters().filter_map(of_release).collect(),
        })
    }
}
