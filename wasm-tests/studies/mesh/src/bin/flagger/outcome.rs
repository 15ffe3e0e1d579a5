//! What came of one rollout by one tool, as it is kept between two calls.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wasm_tests::mesh::PacedReport;

/// Who rolled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tool {
    CanaryCtl,
    Flagger,
}

impl Tool {
    pub(crate) const ALL: [Self; 2] = [Self::CanaryCtl, Self::Flagger];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::CanaryCtl => "canary-ctl",
            Self::Flagger => "Flagger",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) scenario: String,
    pub(crate) round: u32,
    pub(crate) tool: Tool,
    /// `promoted`, `rolledBack`, or what else it was at the deadline.
    pub(crate) result: String,
    /// Why, in the tool's own words.
    pub(crate) reason: String,
    /// From the start of the rollout to its end.
    pub(crate) seconds: f64,
    /// From the first response of the canary to a user until the last one, where it was rolled back.
    pub(crate) exposed: Option<f64>,
    pub(crate) users: usize,
    pub(crate) requests: usize,
    pub(crate) failed_users: usize,
    /// Responses of v2 to sessions of v1, before the tool promoted and from then on.
    pub(crate) moved_in_steps: usize,
    pub(crate) moved_by_promotion: usize,
    /// Responses of v1 to sessions of v2.
    pub(crate) moved_back: usize,
    /// Users whose cart was lost.
    pub(crate) lost: usize,
}

/// When a rollout began, promoted (or ended without that), and ended; its result, and why.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) begun: Instant,
    pub(crate) promoting: Instant,
    pub(crate) ended: Instant,
    pub(crate) result: String,
    pub(crate) reason: String,
}

impl Outcome {
    pub(crate) fn new(
        (scenario, round): (&str, u32),
        tool: Tool,
        course: Course,
        users: &PacedReport,
    ) -> Self {
        let to = |version: &str, when: &dyn Fn(Instant) -> bool| {
            users.moves.iter().filter(|(at, to)| to == version && when(*at)).count()
        };
        let is_back = course.result == "rolledBack";
        let exposed = users.canary.filter(|_| is_back).map(|(first, last)| last - first);
        Self {
            scenario: scenario.to_owned(),
            round,
            tool,
            result: course.result,
            reason: course.reason,
            seconds: (course.ended - course.begun).as_secs_f64(),
            exposed: exposed.as_ref().map(Duration::as_secs_f64),
            users: users.met.users,
            requests: users.met.requests,
            failed_users: users.met.failed_users,
            moved_in_steps: to("v2", &|at| at < course.promoting),
            moved_by_promotion: to("v2", &|at| at >= course.promoting),
            moved_back: to("v1", &|_| true),
            lost: users.met.lost,
        }
    }

    pub(crate) fn is_same_rollout(&self, other: &Self) -> bool {
        self.is_of(&other.scenario, other.tool) && self.round == other.round
    }

    pub(crate) fn is_of(&self, scenario: &str, tool: Tool) -> bool {
        self.scenario == scenario && self.tool == tool
    }
}

/// An outcome of a test.
#[cfg(test)]
pub(crate) fn example(scenario: &str, round: u32, tool: Tool, result: &str) -> Outcome {
    Outcome {
        scenario: scenario.to_owned(),
        round,
        tool,
        result: result.to_owned(),
        reason: format!("{} says why", tool.name()),
        seconds: 60.0 + f64::from(round),
        exposed: (result == "rolledBack").then(|| 20.0 + f64::from(round)),
        users: 200,
        requests: 4_000,
        failed_users: 20,
        moved_in_steps: 3,
        moved_by_promotion: 7,
        moved_back: 2,
        lost: 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_told_apart_by_when_and_whereto() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let course = Course {
            begun,
            promoting: at(40),
            ended: at(60),
            result: "rolledBack".to_owned(),
            reason: String::new(),
        };
        let moves = [(10, "v2"), (45, "v2"), (46, "v2"), (55, "v1")];
        let users = PacedReport {
            moves: moves.map(|(seconds, to)| (at(seconds), to.to_owned())).to_vec(),
            canary: Some((at(5), at(35))),
            ..PacedReport::default()
        };
        let outcome = Outcome::new(("nothing", 1), Tool::Flagger, course.clone(), &users);
        let counts = (outcome.moved_in_steps, outcome.moved_by_promotion, outcome.moved_back);
        assert_eq!((counts, outcome.seconds, outcome.exposed), ((1, 2, 1), 60.0, Some(30.0)));
        let promoted = Course { result: "promoted".to_owned(), ..course };
        let outcome = Outcome::new(("nothing", 1), Tool::Flagger, promoted, &users);
        assert_eq!(outcome.exposed, None, "the canary is what all users get");
    }
}
