//! One test for each kind of failure, as the record keeps them.

use super::group_ratios::Moment;
use super::lost_sessions::LostSessions;
use super::{IntervalCounts, LogRatio, RestartCounts, SequentialTest, VersionCounts};
use crate::spec::OptionalKinds;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of failed response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// A status of 500 to 599, local responses of the proxy included; a gRPC status that says the same, or a body that was broken off.
    ServerErrors,
    /// No response after a fixed time, as the proxies count it.
    Unanswered,
    /// A status of 400 to 499, where the release asks for it.
    ClientErrors,
    /// Headers that came later than the release allows, where it says a time.
    SlowResponses,
    /// The session cookie of the request is deleted, or set to another value.
    LostSessions,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost_sessions: Option<Box<LostSessions>>,
    /// The restarts of the containers of both versions.
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
    /// The counts since the step began.
    pub step: VersionCounts,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ServerErrors, Self::Unanswered, Self::ClientErrors, Self::SlowResponses, Self::LostSessions];

    /// A canary that is worse by less than this share of its responses is not rolled back for it. That of slow responses
    /// is larger: where the allowed time lies among the usual ones, a version that takes a little longer has some more of them.
    /// So is that of lost sessions: logins and expiries differ between versions that are well.
    pub(super) const fn least_difference(self) -> f64 {
        match self {
            Self::ServerErrors | Self::Unanswered | Self::ClientErrors => 0.001,
            Self::LostSessions => 0.0025,
            Self::SlowResponses => 0.01,
        }
    }

    /// Whether the release says a ceiling for them.
    pub(crate) const fn has_ceiling(self) -> bool {
        matches!(self, Self::ServerErrors | Self::Unanswered)
    }
}

impl Evidence {
    /// No evidence yet.
    pub fn new(kinds: OptionalKinds) -> Self {
        Self {
            client_errors: kinds.client_errors.then(Box::default),
            slow_responses: kinds.slow_responses.then(Box::default),
            lost_sessions: kinds.lost_sessions.then(Box::default),
            ..Self::default()
        }
    }

    /// Adds what was counted in an interval in which the weight did not change.
    pub fn add(&mut self, interval: &IntervalCounts) {
        let seconds = interval.seconds;
        self.server_errors.add(&interval.server_errors, seconds);
        self.unanswered.add(&interval.unanswered, seconds);
        if let Some(kind) = &mut self.client_errors {
            kind.add(&interval.client_errors, seconds);
        }
        if let Some(kind) = &mut self.slow_responses {
            kind.add(&interval.slow_responses, seconds);
        }
        if let Some(kind) = &mut self.lost_sessions {
            kind.add(interval);
        }
        self.restarts.add(&interval.restarts);
        self.intervals += 1;
    }

    /// Begins a step: what was counted before it does not show that enough was seen in it, but keeps its weight as evidence.
    pub fn begin_step(&mut self) {
        let lost_sessions = self.lost_sessions.iter_mut().flat_map(|kind| kind.tests());
        let optional = [&mut self.client_errors, &mut self.slow_responses].into_iter().flatten();
        let optional = optional.map(Box::as_mut).chain(lost_sessions);
        for kind in [&mut self.server_errors, &mut self.unanswered].into_iter().chain(optional) {
            kind.step = VersionCounts::default();
        }
    }

    /// Forgets everything. An interval that has begun before is not added any more.
    pub fn forget(&mut self) {
        let empty = Self::new(OptionalKinds {
            client_errors: self.client_errors.is_some(),
            slow_responses: self.slow_responses.is_some(),
            lost_sessions: self.lost_sessions.is_some(),
        });
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

    /// The likelihood ratio of the lost sessions if the canary loses more than twice as many.
    pub(super) fn of_more_than_twice(&self) -> Option<LogRatio> {
        self.lost_sessions.as_ref().map(|kind| kind.more_than_twice.test.log_evidence())
    }

    /// The evidence of a kind, if it is collected.
    fn of(&self, kind: FailureKind) -> Option<&KindEvidence> {
        match kind {
            FailureKind::ServerErrors => Some(&self.server_errors),
            FailureKind::Unanswered => Some(&self.unanswered),
            FailureKind::ClientErrors => self.client_errors.as_deref(),
            FailureKind::SlowResponses => self.slow_responses.as_deref(),
            FailureKind::LostSessions => self.lost_sessions.as_ref().map(|kind| &kind.evidence),
        }
    }
}

impl KindEvidence {
    pub(super) fn add(&mut self, interval: &VersionCounts, seconds: u64) {
        self.add_as(Moment::Usual, interval, seconds);
    }

    pub(super) fn add_as(&mut self, moment: Moment, interval: &VersionCounts, seconds: u64) {
        self.step.add(interval);
        self.test.add_as(moment, interval, &self.step, seconds);
    }
}

impl fmt::Display for FailureKind {
    /// Such responses, as a part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ServerErrors => "5xx",
            Self::Unanswered => "unanswered",
            Self::ClientErrors => "4xx",
            Self::SlowResponses => "slow",
            Self::LostSessions => "lost sessions",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{GROUPS, GroupCounts};

    #[test]
    fn evidence_of_an_earlier_version_is_read_and_has_no_lost_sessions() {
        let json = serde_json::to_value(Evidence::new(OptionalKinds::default())).unwrap();
        assert!(json.get("lostSessions").is_none(), "{json}");
        let read: Evidence = serde_json::from_value(json).unwrap();
        assert_eq!(read.of(FailureKind::LostSessions), None);
        let all = OptionalKinds { client_errors: true, slow_responses: true, lost_sessions: true };
        let counts = GroupCounts::new([100; GROUPS], [2; GROUPS]);
        let lost_sessions = VersionCounts { canary: counts, stable: counts };
        let mut evidence = Evidence::new(all);
        evidence.add(&IntervalCounts { lost_sessions, ..IntervalCounts::default() });
        let text = serde_json::to_string(&evidence).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
    }
}
