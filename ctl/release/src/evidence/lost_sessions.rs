//! The evidence of lost sessions. Applications differ in what a response that sets the session cookie means, so stable's first responses choose the
//! counter.

use super::group_ratios::Moment;
use super::{GroupCounts, IntervalCounts, KindEvidence, VersionCounts};
use serde::{Deserialize, Serialize};

/// Users of a pod that has ended come back within this time.
const RETURN_SECONDS: u64 = 600;

/// The evidence of lost sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LostSessions {
    pub(super) evidence: KindEvidence,
    /// The same for a canary that loses more than twice as many: a login by GET looks like a lost session, and one version may have twice as
    /// many logins as the other.
    #[serde(default)]
    pub(super) more_than_twice: KindEvidence,
    #[serde(default)]
    ended_pods: EndedPods,
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
        if let Some(moment) = self.ended_pods.moment(interval, counts) {
            self.evidence.add_as(moment, counts, interval.seconds);
            self.more_than_twice.add_as(moment, &counts.with_canary_responses(2), interval.seconds);
        }
    }

    /// Both tests.
    pub(super) fn tests(&mut self) -> [&mut KindEvidence; 2] {
        [&mut self.evidence, &mut self.more_than_twice]
    }
}

/// The pods of the canary that have ended, and whose users may still come back to it: all their sessions are lost by one event. Which of both
/// versions it meets first is a matter of chance, whatever their shares of the traffic are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndedPods {
    /// Seconds until the users of the last one are back.
    seconds: u64,
    /// The pods of whose ends nothing was said yet.
    pods: u64,
}

impl EndedPods {
    /// The event of an interval: once the end of a pod for each pod that has ended. `None`: the interval repeats an end that counted.
    fn moment(&mut self, interval: &IntervalCounts, counts: &VersionCounts) -> Option<Moment> {
        self.seconds = self.seconds.saturating_sub(interval.seconds);
        if interval.canary_pods_ended > 0 {
            self.seconds = RETURN_SECONDS;
            self.pods = self.pods.saturating_add(interval.canary_pods_ended);
        }
        if self.seconds == 0 {
            *self = Self::default();
            return Some(Moment::Usual);
        }
        if counts.canary.total().failed == 0 {
            return Some(Moment::Usual);
        }
        self.pods = self.pods.checked_sub(1)?;
        Some(Moment::EndOfPod(interval.restarts.pods()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Evidence, FailureKind, GROUPS, RestartCount, RestartCounts, SequentialTest, VersionCounts,
    };
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

    /// Ten seconds in which two of a hundred sessions of the canary are lost, and so many of its two pods end.
    fn ten_seconds(canary_pods_ended: u64) -> IntervalCounts {
        let pods = |pods| RestartCount { restarts: 0, pods };
        IntervalCounts {
            lost_sessions: of_each_100(2, 0),
            restarts: RestartCounts { canary: pods(2), stable: pods(2) },
            canary_pods_ended,
            seconds: 10,
            ..IntervalCounts::default()
        }
    }

    #[test]
    fn the_end_of_a_pod_is_one_event_until_its_users_are_back() {
        let mut evidence = Evidence::new(LOST);
        evidence.add(&IntervalCounts { lost_sessions: of_each_100(0, 0), ..ten_seconds(0) });
        let mut nats = |ended| {
            evidence.add(&ten_seconds(ended));
            lost(&evidence).test.log_evidence().nats()
        };
        let first = nats(1);
        assert!((0.2..2_f64.ln()).contains(&first), "half of all pods are the canary's: {first}");
        for seconds in (10..RETURN_SECONDS).step_by(10) {
            assert!((nats(0) - first).abs() < 1e-9, "after {seconds} s");
        }
        let later = nats(0);
        assert!(later > first + 0.2, "{later} after {first}: no pod has ended for long");
        let of_two = [nats(2), nats(0), nats(0)];
        assert!(later < of_two[0] && of_two[0] < of_two[1], "two ends say something twice: {of_two:?}");
        assert!((of_two[2] - of_two[1]).abs() < 1e-9, "{of_two:?}");
    }

    #[test]
    fn the_fewer_pods_are_the_canarys_the_more_the_end_of_one_says() {
        let said = |canary, stable| {
            let pods = |pods| RestartCount { restarts: 0, pods };
            let restarts = RestartCounts { canary: pods(canary), stable: pods(stable) };
            let mut evidence = Evidence::new(LOST);
            evidence.add(&IntervalCounts { lost_sessions: of_each_100(0, 0), ..ten_seconds(0) });
            evidence.add(&IntervalCounts { restarts, ..ten_seconds(1) });
            lost(&evidence).test.log_evidence().nats()
        };
        assert!(said(9, 1) < said(2, 2) && said(2, 2) < said(1, 9));
        assert!(said(2, 0).abs() < 1e-9, "without a pod of stable it is the canary's anyway");
    }
}
