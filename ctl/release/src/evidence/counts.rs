//! Responses of a version by user group.

use crate::stats::as_f64;
use serde::{Deserialize, Serialize};
use std::iter::zip;

/// The number of user groups: a group is four bits of the identity.
pub const GROUPS: usize = 16;

/// Responses, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResponseCount {
    /// All responses, or, where a missing response is the failure, all requests.
    pub responses: u64,
    /// Those that failed, at most as many.
    pub failed: u64,
}

impl ResponseCount {
    /// The share of failed responses, `0.0..=1.0`; 0 without any response.
    pub fn rate(self) -> f64 {
        if self.responses == 0 { 0.0 } else { as_f64(self.failed) / as_f64(self.responses) }
    }

    /// Adds what was counted elsewhere, or later.
    pub(super) const fn add(&mut self, more: Self) {
        self.responses = self.responses.saturating_add(more.responses);
        self.failed = self.failed.saturating_add(more.failed);
    }
}

/// Responses of one version by user group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCounts {
    responses: [u64; GROUPS],
    failed: [u64; GROUPS],
}

/// The same of both versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionCounts {
    /// Of the canary.
    pub canary: GroupCounts,
    /// Of stable: the users whom the same weight left there, where the proxies count them apart.
    pub stable: GroupCounts,
}

impl GroupCounts {
    /// Counts by group. More failures than responses count as that many failures.
    pub fn new(responses: [u64; GROUPS], failed: [u64; GROUPS]) -> Self {
        let mut counts = Self { responses, failed };
        for (failed, responses) in zip(&mut counts.failed, responses) {
            *failed = (*failed).min(responses);
        }
        counts
    }

    /// Counts a response to a user of a group; a group beyond the last one is taken modulo [`GROUPS`].
    pub fn count(&mut self, group: usize, failed: bool) {
        let group = group % GROUPS;
        if let Some(responses) = self.responses.get_mut(group) {
            *responses = responses.saturating_add(1);
        }
        if let Some(count) = self.failed.get_mut(group).filter(|_| failed) {
            *count = count.saturating_add(1);
        }
    }

    /// Adds what was counted later.
    pub fn add(&mut self, later: &Self) {
        for (sum, more) in zip(&mut self.responses, later.responses) {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in zip(&mut self.failed, later.failed) {
            *sum = sum.saturating_add(more);
        }
    }

    /// The groups, in order.
    pub fn groups(&self) -> impl Iterator<Item = ResponseCount> {
        zip(self.responses, self.failed).map(|(responses, failed)| ResponseCount { responses, failed })
    }

    /// All groups together.
    pub fn total(&self) -> ResponseCount {
        sum(self.groups())
    }

    /// All groups but one, together.
    pub fn total_without(&self, group: usize) -> ResponseCount {
        sum(self.groups().enumerate().filter(|(index, _)| *index != group).map(|(_, count)| count))
    }

    /// The number of groups with a failed response: so many users at least.
    pub fn groups_failed(&self) -> usize {
        self.failed.iter().filter(|failed| **failed > 0).count()
    }

    /// The number of groups with a response.
    pub fn groups_seen(&self) -> usize {
        self.responses.iter().filter(|responses| **responses > 0).count()
    }
}

impl VersionCounts {
    /// The same with so many times as many responses of the canary, of which as many failed: its rate is that many times lower.
    pub(super) fn with_canary_responses(mut self, times: u64) -> Self {
        self.canary.responses = self.canary.responses.map(|count| count.saturating_mul(times));
        self
    }

    /// Adds what was counted later.
    pub fn add(&mut self, later: &Self) {
        self.canary.add(&later.canary);
        self.stable.add(&later.stable);
    }
}

/// All of them together.
pub(super) fn sum(counts: impl Iterator<Item = ResponseCount>) -> ResponseCount {
    counts.fold(ResponseCount::default(), |mut sum, count| {
        sum.add(count);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_failures_than_responses_are_no_more_than_all() {
        let counts = GroupCounts::new([3; GROUPS], [5; GROUPS]);
        assert_eq!(counts.total(), ResponseCount { responses: 48, failed: 48 });
    }

    #[test]
    fn a_group_that_is_left_out_takes_its_responses_with_it() {
        let mut counts = GroupCounts::default();
        counts.count(2, true);
        counts.count(18, false); // group 2 again
        counts.count(3, false);
        assert_eq!(counts.total(), ResponseCount { responses: 3, failed: 1 });
        assert_eq!(counts.total_without(2), ResponseCount { responses: 1, failed: 0 });
        assert_eq!(counts.total_without(5), counts.total());
        assert_eq!(counts.groups_seen(), 2);
    }

    #[test]
    fn a_rate_of_nothing_is_0() {
        assert!(ResponseCount::default().rate() == 0.0);
        assert!((ResponseCount { responses: 8, failed: 2 }.rate() - 0.25).abs() < 1e-12);
    }
}
