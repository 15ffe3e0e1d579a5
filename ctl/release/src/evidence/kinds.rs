//! One test for each kind of failure, as the record keeps them.

use super::{IntervalCounts, SequentialTest, VersionCounts};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What counts as a failed response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// A status of 500 to 599, local responses of the proxy included.
    ServerErrors,
    /// No response for at least one interval.
    Unanswered,
}

/// All that was counted in a rollout. Its size does not grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    server_errors: KindEvidence,
    unanswered: KindEvidence,
    /// The number of intervals that were added. Who adds one names the number that it began with, so that no interval is
    /// added by two.
    #[serde(default)]
    pub intervals: u64,
}

/// The evidence of one kind of failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindEvidence {
    /// Over the whole rollout.
    pub test: SequentialTest,
    /// What was counted since the step began.
    pub step: VersionCounts,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ServerErrors, Self::Unanswered];
}

impl Evidence {
    /// Adds what was counted in an interval in which the weight did not change.
    pub fn add(&mut self, interval: &IntervalCounts) {
        self.server_errors.add(&interval.server_errors);
        self.unanswered.add(&interval.unanswered);
        self.intervals += 1;
    }

    /// Begins a step: what was counted before it does not show that enough was seen in it, but keeps its weight as evidence.
    pub fn begin_step(&mut self) {
        self.server_errors.step = VersionCounts::default();
        self.unanswered.step = VersionCounts::default();
    }

    /// Forgets everything. An interval that has begun before is not added any more.
    pub fn forget(&mut self) {
        *self = Self { intervals: self.intervals + 1, ..Self::default() };
    }

    /// The evidence of a kind.
    pub const fn of(&self, kind: FailureKind) -> &KindEvidence {
        match kind {
            FailureKind::ServerErrors => &self.server_errors,
            FailureKind::Unanswered => &self.unanswered,
        }
    }
}

impl KindEvidence {
    fn add(&mut self, interval: &VersionCounts) {
        self.test.add(interval);
        self.step.add(interval);
    }
}

impl fmt::Display for FailureKind {
    /// What such responses are, as a part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ServerErrors => "5xx",
            Self::Unanswered => "unanswered",
        })
    }
}
