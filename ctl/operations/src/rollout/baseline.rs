//! What the next observation is compared with.

use super::GroupCounters;
use super::train::{InnerCounters, TrainCounters};
use canary_release::evidence::{IntervalCounts, PodRestarts, ProxyCounters};
use canary_release::record::Record;
use canary_release::rollout::{InnerIntervals, InnerRelease};
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The counters of the last observation, since the weight was set.
#[derive(Clone)]
pub(super) struct Baseline {
    pub(super) generation: u64,
    at: Timestamp,
    /// The number of intervals in the record's evidence when they were observed.
    intervals: u64,
    own: ProxyCounters,
    train: BTreeMap<ReleaseName, (InnerRelease, ProxyCounters)>,
    restarts: PodRestarts,
}

/// The counts since the last observation.
pub(super) struct Interval {
    /// The number of intervals that the record had then.
    known: u64,
    pub(super) counts: IntervalCounts,
    /// The same of the other releases of the train that were observed both times.
    pub(super) train: InnerIntervals,
}

impl Interval {
    /// Adds it to the evidence and to the time line, unless another driver has added one since then. Returns whether it was added.
    pub(super) fn add_to(&self, record: &mut Record, now: Timestamp) -> bool {
        let is_added = record.add_evidence(self.known, &self.counts, &self.train);
        if is_added {
            record.note_failures(now);
        }
        is_added
    }
}

impl Baseline {
    /// From now on the counters are compared with these.
    pub(super) fn new(record: &Record, observed: GroupCounters, train: TrainCounters) -> Self {
        let intervals = record.rollout.as_ref().map_or(0, |rollout| rollout.evidence.intervals);
        let GroupCounters { at, counters: own, restarts, .. } = observed;
        let of_release = |(name, InnerCounters { release, counters, .. })| (name, (release, counters));
        let train = train.into_counters().map(of_release).collect();
        Self { generation: record.state.generation, at, intervals, own, train, restarts }
    }

    /// The counts since then; none if the weight has changed in between.
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
        let seconds = u64::try_from(observed.at.duration_since(self.at).as_secs()).unwrap_or_default();
        let between = |earlier: &ProxyCounters, later: &ProxyCounters| IntervalCounts {
            seconds,
            ..IntervalCounts::between(earlier, later)
        };
        let canary_pods_ended = PodRestarts::canary_pods_ended(&self.restarts, &observed.restarts);
        let counts = IntervalCounts { restarts, canary_pods_ended, ..between(&self.own, &observed.counters) };
        let of_release = |(name, inner): (&ReleaseName, &InnerCounters)| {
            let (_, earlier) = self.train.get(name).filter(|(of, _)| *of == inner.release)?;
            Some((name.clone(), between(earlier, &inner.counters)))
        };
        Some(Interval {
            known: self.intervals,
            counts,
            train: train.counters().filter_map(of_release).collect(),
        })
    }
}
