//! The failed responses of both versions over the time of a rollout, in a bounded number of points: what the dashboard shows of the time before
//! its page was opened.

use crate::evidence::{Evidence, FailureKind, ResponseCount, VersionCounts};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// More points than this are thinned out, so that the record does not grow with the time.
const MAX_POINTS: usize = 60;
/// The first distance of two points.
const SPACING_SECONDS: i64 = 30;

/// Counts since the rollout began, at some times of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureTimeline {
    /// The least distance of two points; it doubles when they are thinned out.
    spacing_seconds: i64,
    /// The last one moves with the time until it is far enough from the one before.
    points: Vec<FailurePoint>,
}

/// The counts until a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PackedPoint", into = "PackedPoint")]
struct FailurePoint {
    at: Timestamp,
    canary: ResponseCount,
    stable: ResponseCount,
}

/// Seconds since 1970-01-01 UTC, responses and failures of the canary, and those of stable.
type PackedPoint = (i64, u64, u64, u64, u64);

/// The counts between two times. A response with 5xx and a request without a response are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FailureInterval {
    /// From this time.
    pub from: Timestamp,
    /// Until this time.
    pub to: Timestamp,
    /// Of the canary.
    pub canary: ResponseCount,
    /// Of stable.
    pub stable: ResponseCount,
}

impl Default for FailureTimeline {
    fn default() -> Self {
        Self { spacing_seconds: SPACING_SECONDS, points: Vec::new() }
    }
}

impl FailureTimeline {
    /// Whether nothing was counted.
    pub const fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Adds what was counted until now, of a rollout that has begun then.
    pub(crate) fn add(&mut self, evidence: &Evidence, started_at: Timestamp, now: Timestamp) {
        let none = ResponseCount::default();
        if self.points.is_empty() {
            self.points.push(FailurePoint { at: started_at, canary: none, stable: none });
        }
        if let [.., before, last] = self.points.as_slice()
            && last.at.duration_since(before.at).as_secs() < self.spacing_seconds
        {
            self.points.pop();
        }
        let (canary, stable) = counted(evidence);
        self.points.push(FailurePoint { at: now, canary, stable });
        if self.points.len() > MAX_POINTS {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.spacing_seconds = self.spacing_seconds.saturating_mul(2);
        }
    }

    /// The counts between the points, the oldest first.
    pub fn intervals(&self) -> impl Iterator<Item = FailureInterval> {
        let pairs = self.points.iter().zip(self.points.iter().skip(1));
        pairs.filter(|(before, later)| before.at < later.at).map(|(before, later)| FailureInterval {
            from: before.at,
            to: later.at,
            canary: since(later.canary, before.canary),
            stable: since(later.stable, before.stable),
        })
    }
}

/// All that was counted of the canary and of stable.
fn counted(evidence: &Evidence) -> (ResponseCount, ResponseCount) {
    let kinds = evidence.kinds();
    let shown = kinds.filter(|(kind, _)| matches!(kind, FailureKind::ServerErrors | FailureKind::Unanswered));
    let counts: Vec<_> = shown.map(|(_, evidence)| *evidence.test.counts()).collect();
    let all = evidence.server_errors().test.counts();
    let failed = |of: fn(&VersionCounts) -> u64| counts.iter().map(of).sum();
    let count = |responses, failed: u64| ResponseCount { responses, failed: failed.min(responses) };
    (
        count(all.canary.total().responses, failed(|counts| counts.canary.total().failed)),
        count(all.stable.total().responses, failed(|counts| counts.stable.total().failed)),
    )
}

/// A retry forgets the evidence, and counts from 0 again.
const fn since(later: ResponseCount, before: ResponseCount) -> ResponseCount {
    if later.responses < before.responses || later.failed < before.failed {
        return later;
    }
    ResponseCount { responses: later.responses - before.responses, failed: later.failed - before.failed }
}

impl From<FailurePoint> for PackedPoint {
    fn from(FailurePoint { at, canary, stable }: FailurePoint) -> Self {
        (at.as_second(), canary.responses, canary.failed, stable.responses, stable.failed)
    }
}

impl From<PackedPoint> for FailurePoint {
    fn from((at, canary, canary_failed, stable, stable_failed): PackedPoint) -> Self {
        let count = |responses, failed| ResponseCount { responses, failed };
        Self {
            at: Timestamp::from_second(at).unwrap_or_default(),
            canary: count(canary, canary_failed),
            stable: count(stable, stable_failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{GROUPS, GroupCounts, IntervalCounts};
    use crate::spec::OptionalKinds;
    use jiff::SignedDuration;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    /// Ten responses in each group, of which one fails on the canary, each ten seconds.
    fn after_intervals(count: i64) -> FailureTimeline {
        let canary = GroupCounts::new([10; GROUPS], [1; GROUPS]);
        let stable = GroupCounts::new([90; GROUPS], [0; GROUPS]);
        let interval =
            IntervalCounts { server_errors: VersionCounts { canary, stable }, ..IntervalCounts::default() };
        let mut evidence = Evidence::new(OptionalKinds::default());
        let mut timeline = FailureTimeline::default();
        for number in 1..=count {
            evidence.add(&interval);
            timeline.add(&evidence, START, START + SignedDuration::from_secs(10 * number));
        }
        timeline
    }

    #[test]
    fn a_rollout_of_any_length_has_a_bounded_number_of_points_that_cover_all_of_it() {
        for count in [1, 2, 5, 179, 180, 181, 5_000] {
            let timeline = after_intervals(count);
            let intervals: Vec<_> = timeline.intervals().collect();
            assert!(intervals.len() < MAX_POINTS, "{count}: {}", intervals.len());
            assert!(count < 180 || intervals.len() >= MAX_POINTS / 2 - 1, "{count}: {}", intervals.len());
            assert_eq!(intervals.first().map(|first| first.from), Some(START), "{count}");
            let end = START + SignedDuration::from_secs(10 * count);
            assert_eq!(intervals.last().map(|last| last.to), Some(end), "{count}");
            let failed: u64 = intervals.iter().map(|interval| interval.canary.failed).sum();
            assert_eq!(failed, 16 * u64::try_from(count).unwrap_or_default(), "{count}");
            for interval in &intervals {
                assert!((interval.canary.rate() - 0.1).abs() < 1e-9, "{count}: {interval:?}");
                assert_eq!(interval.stable.failed, 0);
            }
        }
    }

    #[test]
    fn a_retry_counts_from_0_again() {
        let mut timeline = after_intervals(60);
        let mut evidence = Evidence::new(OptionalKinds::default());
        timeline.add(&evidence, START, START + SignedDuration::from_secs(640));
        evidence.add(&IntervalCounts {
            server_errors: VersionCounts {
                canary: GroupCounts::new([5; GROUPS], [0; GROUPS]),
                stable: GroupCounts::default(),
            },
            ..IntervalCounts::default()
        });
        timeline.add(&evidence, START, START + SignedDuration::from_secs(680));
        let last = timeline.intervals().last();
        assert_eq!(last.map(|last| last.canary), Some(ResponseCount { responses: 80, failed: 0 }));
    }

    #[test]
    fn what_the_record_keeps_is_read_again_and_is_small() {
        let timeline = after_intervals(5_000);
        let text = serde_json::to_string(&timeline).unwrap_or_default();
        assert!(text.len() < 4_000, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<FailureTimeline>(&text).ok(), Some(timeline));
    }
}
