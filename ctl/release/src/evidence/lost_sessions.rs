//! The evidence of lost sessions. Applications differ in what a response that sets the session cookie means, so stable's first responses choose the
//! counter.

use super::{GroupCounts, IntervalCounts, KindEvidence};
use serde::{Deserialize, Serialize};

/// The evidence of lost sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LostSessions {
    pub(super) evidence: KindEvidence,
    /// The counter that has them; `None` until stable's responses say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counter: Option<SessionCounter>,
    /// Stable's responses until then, and those of them that set the session to another value or delete it.
    stable: GroupCounts,
}

/// Which of the proxies' counters has the sessions that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SessionCounter {
    /// The session has another value, or is deleted.
    Lost,
    /// It is shorter by a quarter or more, or deleted: for applications that set another value with each page, as those with
    /// encrypted sessions in their cookies do.
    Emptied,
}

impl SessionCounter {
    /// The fewest responses of stable that say which.
    const MIN_RESPONSES: u64 = 300;
    /// Above this share of a user's responses the application sets another value with each page. Most responses of a page are no pages,
    /// so it is far below 1; logouts and expiries are far below it.
    const USUAL_SHARE: f64 = 0.1;

    /// The counter that stable's responses name: those of most user groups, since one user may replay an old session for ever.
    fn of(stable: &GroupCounts) -> Option<Self> {
        if stable.total().responses < Self::MIN_RESPONSES {
            return None;
        }
        let changing = stable.groups().filter(|group| group.rate() > Self::USUAL_SHARE).count();
        Some(if 2 * changing > stable.groups_seen() { Self::Emptied } else { Self::Lost })
    }
}

impl LostSessions {
    /// Adds an interval. What counts is decided once, and by earlier intervals alone: the test asks no question that depends on the answer,
    /// and it compares one rate.
    pub(super) fn add(&mut self, interval: &IntervalCounts) {
        let counts = match self.counter {
            Some(SessionCounter::Lost) => &interval.lost_sessions,
            Some(SessionCounter::Emptied) => &interval.emptied_sessions,
            None => {
                self.stable.add(&interval.lost_sessions.stable);
                self.counter = SessionCounter::of(&self.stable);
                return;
            }
        };
        self.evidence.add(counts, interval.seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Evidence, FailureKind, GROUPS, SequentialTest, VersionCounts};
    use crate::spec::OptionalKinds;

    const LOST: OptionalKinds =
        OptionalKinds { client_errors: false, slow_responses: false, lost_sessions: true };

    /// 100 responses to each group of both versions, and so many of them of a kind: of the canary and of stable.
    fn of_each_100(canary: u64, stable: u64) -> VersionCounts {
        let counts = |failed| GroupCounts::new([100; GROUPS], [failed; GROUPS]);
        VersionCounts { canary: counts(canary), stable: counts(stable) }
    }

    fn lost(evidence: &Evidence) -> &KindEvidence {
        evidence.kinds().find(|(kind, _)| *kind == FailureKind::LostSessions).unwrap().1
    }

    #[test]
    fn where_stable_sets_another_value_with_each_page_sessions_that_are_emptied_count() {
        for (stable, expected) in [(0, 90), (10, 90), (11, 30), (100, 30)] {
            let mut evidence = Evidence::new(LOST);
            let interval = IntervalCounts {
                lost_sessions: of_each_100(90, stable),
                emptied_sessions: of_each_100(30, 0),
                ..IntervalCounts::default()
            };
            evidence.add(&interval);
            assert_eq!(
                lost(&evidence).test,
                SequentialTest::default(),
                "it decides what counts, and is not counted"
            );
            evidence.add(&interval);
            assert_eq!(
                lost(&evidence).step.canary.total().failed,
                16 * expected,
                "{stable} of 100 of stable"
            );
        }
    }

    #[test]
    fn what_counts_is_decided_once_and_not_by_one_user() {
        let mut evidence = Evidence::new(LOST);
        // A client that replays an old session, with more requests than all others.
        let mut stable = of_each_100(1, 1).stable;
        (0..5_000).for_each(|_| stable.count(3, true));
        let lost_sessions = VersionCounts { stable, ..of_each_100(1, 1) };
        evidence.add(&IntervalCounts { lost_sessions, ..IntervalCounts::default() });
        let later = IntervalCounts { lost_sessions: of_each_100(100, 100), ..IntervalCounts::default() };
        evidence.add(&later);
        evidence.add(&later);
        assert_eq!(lost(&evidence).step.stable.total().failed, 2 * 1_600);
    }

    #[test]
    fn few_responses_of_stable_decide_nothing() {
        let mut evidence = Evidence::new(LOST);
        let few = GroupCounts::new([18; GROUPS], [0; GROUPS]);
        let lost_sessions = VersionCounts { canary: of_each_100(100, 0).canary, stable: few };
        for (intervals, counted) in [(1, 0), (2, 0), (3, 1_600)] {
            evidence.add(&IntervalCounts { lost_sessions, ..IntervalCounts::default() });
            assert_eq!(lost(&evidence).step.canary.total().failed, counted, "after {intervals} intervals");
        }
    }
}
