//! One test for each kind of failure, as the record keeps them.

use super::{IntervalCounts, RestartCounts, SequentialTest, VersionCounts};
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
    /// A status of 400 to 499, where the release asks for it.
    ClientErrors,
    /// Headers that came later than the release allows, where it says a time.
    SlowResponses,
}

/// All that was counted in a rollout. Its size does not grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    server_errors: KindEvidence,
    unanswered: KindEvidence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_errors: Option<Box<KindEvidence>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slow_responses: Option<Box<KindEvidence>>,
    /// How often containers of both versions were restarted.
    #[serde(default, skip_serializing_if = "RestartCounts::is_empty")]
    pub restarts: RestartCounts,
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
    pub const ALL: [Self; 4] =
        [Self::ServerErrors, Self::Unanswered, Self::ClientErrors, Self::SlowResponses];

    /// A canary that is worse by less than this share of its responses is not rolled back for it. That of slow responses
    /// is larger: where the allowed time lies among the usual ones, a version that takes a little longer has some more of them.
    pub(super) const fn least_difference(self) -> f64 {
        match self {
            Self::ServerErrors | Self::Unanswered | Self::ClientErrors => 0.001,
            Self::SlowResponses => 0.01,
        }
    }

    /// Whether the release says a ceiling for them.
    pub(crate) const fn has_ceiling(self) -> bool {
        matches!(self, Self::ServerErrors | Self::Unanswered)
    }
}

impl Evidence {
    /// No evidence yet; 4xx and slow responses are collected where these are failures.
    pub fn new(client_errors: bool, slow_responses: bool) -> Self {
        Self {
            client_errors: client_errors.then(Box::default),
            slow_responses: slow_responses.then(Box::default),
            ..Self::default()
        }
    }

    /// Adds what was counted in an interval in which the weight did not change.
    pub fn add(&mut self, interval: &IntervalCounts) {
        self.server_errors.add(&interval.server_errors);
        self.unanswered.add(&interval.unanswered);
        if let Some(kind) = &mut self.client_errors {
            kind.add(&interval.client_errors);
        }
        if let Some(kind) = &mut self.slow_responses {
            kind.add(&interval.slow_responses);
        }
        self.restarts.add(&interval.restarts);
        self.intervals += 1;
    }

    /// Begins a step: what was counted before it does not show that enough was seen in it, but keeps its weight as evidence.
    pub fn begin_step(&mut self) {
        let optional =
            [&mut self.client_errors, &mut self.slow_responses].into_iter().flatten().map(Box::as_mut);
        for kind in [&mut self.server_errors, &mut self.unanswered].into_iter().chain(optional) {
            kind.step = VersionCounts::default();
        }
    }

    /// Forgets everything. An interval that has begun before is not added any more.
    pub fn forget(&mut self) {
        let empty = Self::new(self.client_errors.is_some(), self.slow_responses.is_some());
        *self = Self { intervals: self.intervals + 1, ..empty };
    }

    /// The evidence of each kind that is collected.
    pub fn kinds(&self) -> impl Iterator<Item = (FailureKind, &KindEvidence)> {
        FailureKind::ALL.into_iter().filter_map(|kind| Some((kind, self.of(kind)?)))
    }

    /// The evidence of 5xx, whose responses are all that were counted.
    pub const fn server_errors(&self) -> &KindEvidence {
        &self.server_errors
    }

    /// The evidence of a kind, if it is collected.
    fn of(&self, kind: FailureKind) -> Option<&KindEvidence> {
        match kind {
            FailureKind::ServerErrors => Some(&self.server_errors),
            FailureKind::Unanswered => Some(&self.unanswered),
            FailureKind::ClientErrors => self.client_errors.as_deref(),
            FailureKind::SlowResponses => self.slow_responses.as_deref(),
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
            Self::ClientErrors => "4xx",
            Self::SlowResponses => "slow",
        })
    }
}
