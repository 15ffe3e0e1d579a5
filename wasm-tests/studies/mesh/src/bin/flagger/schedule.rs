//! Which rollouts are left to do.

use crate::outcome::{Outcome, Tool};
use crate::rollout::Job;
use crate::settings::SCENARIOS;

/// One round of all scenarios after the other, so that whenever it is stopped all have been tried alike: so many rounds of those that
/// have to be promoted, and of those that have to be rolled back.
pub(crate) fn left([good, broken]: [u32; 2], done: &[Outcome]) -> Vec<Job> {
    let rounds = 1..=good.max(broken);
    let all = rounds.flat_map(|round| SCENARIOS.iter().map(move |scenario| Job { scenario, round }));
    let is_asked = |job: &Job| {
        let rounds = if job.scenario.expected == "promoted" { good } else { broken };
        job.round <= rounds
    };
    let is_done = |job: &Job| {
        let by = |tool| done.iter().any(|one| one.is_of(job.scenario.name, tool) && one.round == job.round);
        Tool::ALL.into_iter().all(by)
    };
    all.filter(|job| is_asked(job) && !is_done(job)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::example;

    fn count(jobs: &[Job], expected: &str) -> usize {
        jobs.iter().filter(|job| job.scenario.expected == expected).count()
    }

    #[test]
    fn each_scenario_is_tried_as_often_as_asked_and_once_before_any_is_tried_again() {
        let jobs = left([3, 1], &[]);
        assert_eq!((count(&jobs, "promoted"), count(&jobs, "rolledBack")), (3 * 4, 3));
        assert!(jobs.is_sorted_by_key(|job| job.round), "{jobs:?}");
    }

    #[test]
    fn a_pair_of_which_one_is_missing_is_left_to_do() {
        let [first, second, ..] = SCENARIOS.map(|scenario| scenario.name);
        let done = [
            example(first, 1, Tool::CanaryCtl, "promoted"),
            example(first, 1, Tool::Flagger, "promoted"),
            example(second, 1, Tool::Flagger, "promoted"),
        ];
        let jobs = left([1, 1], &done);
        assert_eq!(jobs.len(), SCENARIOS.len() - 1);
        assert_eq!(jobs[0].scenario.name, second);
    }
}
