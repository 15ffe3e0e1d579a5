//! What an alert says of the responses of both versions.

use crate::evidence::{Criteria, Evidence, FailureKind, GROUPS, GroupCounts, KindNumbers};
use crate::spec::ReleaseName;
use crate::stats::as_f64;
use serde::{Deserialize, Serialize};

/// The counts of both versions in the same interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindCounts {
    /// Another release of the train, whose versions these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseName>,
    /// The kind of failure that counts.
    pub kind: FailureKind,
    /// Of the canary.
    pub canary: VersionCount,
    /// Of stable.
    pub stable: VersionCount,
}

/// The counts of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionCount {
    /// The user groups with a response, of 16: the proxies count groups and not users.
    pub user_groups: usize,
    /// Responses; requests where a missing response is the failure.
    pub responses: u64,
    /// Those that failed.
    pub failed: u64,
}

impl KindCounts {
    /// The counts of both versions of a release: of another release those that speak against its canary.
    pub(crate) fn of_evidence<'e>(
        release: Option<&'e ReleaseName>,
        evidence: &'e Evidence,
        criteria: &Criteria,
    ) -> impl Iterator<Item = Self> + use<'e> {
        let numbers = evidence.numbers(release, criteria);
        let is_told =
            move |index: usize| release.is_none() || numbers.get(index).is_some_and(KindNumbers::is_against);
        let told = evidence.kinds().enumerate().filter(move |(index, _)| is_told(*index));
        told.map(move |(_, (kind, evidence))| {
            let counts = evidence.test.counts();
            let [canary, stable] = [&counts.canary, &counts.stable].map(VersionCount::of);
            Self { release: release.cloned(), kind, canary, stable }
        })
    }
}

impl VersionCount {
    fn of(counts: &GroupCounts) -> Self {
        let total = counts.total();
        Self { user_groups: counts.groups_seen(), responses: total.responses, failed: total.failed }
    }
}

impl KindCounts {
    /// `3 of 120 responses (2.50%), users of 14 of 16 groups`.
    pub(super) fn said(&self, of: fn(&Self) -> VersionCount) -> String {
        let VersionCount { user_groups, responses, failed } = of(self);
        let counted = match self.kind {
            FailureKind::Unanswered => "requests",
            FailureKind::ServerErrors
            | FailureKind::ClientErrors
            | FailureKind::SlowResponses
            | FailureKind::LostSessions => "responses",
        };
        if responses == 0 {
            return format!("no {counted}");
        }
        let percent = as_f64(failed) / as_f64(responses) * 100.0;
        format!(
            "{failed} of {responses} {counted} ({percent:.2}%), users of {user_groups} of {GROUPS} groups"
        )
    }
}
