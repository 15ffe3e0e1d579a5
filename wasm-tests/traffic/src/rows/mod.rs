//! The table of scenarios.
//!
//! ```text
//! good       canaries that are as good as stable
//! waiting    clients that leave, responses that take long, both versions alike
//! few        few users, little traffic
//! bad        canaries that are worse
//! kept_sessions  sessions that end by restarts, keys and times; bodies that break off
//! bots       the same beside a bot that fails in both versions
//! late       canaries that become worse after hours
//! ```

mod bad;
mod bots;
mod few;
mod good;
mod kept_sessions;
mod late;
mod waiting;

use crate::driver::FinalState;
use crate::scenario::Scenario;
use crate::summary::Summary;

/// Rows that a quick test runs: each stands for a fault that a test of a canary has had, or for what it must not lose.
const QUICK: [&str; 24] = [
    "good: plain @200",
    "good: blips of both @20",
    "good: broken sessions 1% @20",
    "good: first 3 requests 2%, later 0.05% @200",
    "good: pods pause 3s each 10min, 1+9 pods @200",
    "good: users, 3 NATs of 8% fail 3% @200",
    "good: pods of both restart each 5min and forget @200",
    "good: twice the logins by GET, 4% of requests @20",
    "good: logins by GET in 30% of first 3 requests @200",
    "good: clients of 0.5% leave @200",
    "good: long polls 0.5% of 15-30s @200",
    "bad: +5 points @20",
    "bad: +1 points @200",
    "bad: hangs with 10% @20",
    "bad: loses sessions, 0.1% to 3.1% @200",
    "bad: loses sessions, 2% to 5% @20",
    "bad: loses 3% of sessions, pods of both restart each hour @20",
    "bad: users, +5 points, a bot of 2% fails 100% @200",
    "bad: users, +5 points, 3 bots of 5% fail 20% @20",
    "bad: 1% to 5% after 1h at 50% @20",
    "bad: canary pods restart each minute and forget @200",
    "bad: users, the canary has another sign key @200",
    "good: 5% of bodies of both break off @20",
    "bad: +5 points of bodies break off @200",
];

/// What is expected of the rollouts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// At most 1 % are rolled back: nothing but chance speaks against the canary.
    Plain,
    /// At most 5 % are rolled back, and the others promoted or open.
    Good,
    /// At most 5 % are rolled back for what was counted. The others may wait until the deadline.
    Few,
    /// At least 95 % are rolled back.
    Bad,
    /// At least 80 % are rolled back: the fault is small, or meets few.
    Mostly,
    /// At most 5 % are promoted: the others are rolled back, or held until a person decides.
    NotPromoted,
    /// Nothing: faults that nobody can see in such traffic, and such that a rollout is not meant to see.
    Anything,
}

impl Expected {
    /// Whether the rollouts are as expected. One of them may be otherwise.
    pub fn is_met(self, summary: &Summary) -> bool {
        let all = summary.outcomes.len();
        let back = summary.count(FinalState::RolledBack);
        let late = summary.count(FinalState::Deadline);
        let is_at_most = |count: usize, percent: usize| count <= 1.max(all * percent / 100);
        match self {
            Self::Plain => is_at_most(back + late, 1),
            Self::Good => is_at_most(back + late, 5),
            Self::Few => is_at_most(back, 5),
            Self::Bad => is_at_most(all - back, 5),
            Self::Mostly => is_at_most(all - back, 20),
            Self::NotPromoted => is_at_most(summary.count(FinalState::Promoted), 5),
            Self::Anything => true,
        }
    }
}

/// A scenario at one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is, with the requests a second. No other row has it.
    pub id: String,
    /// What is simulated.
    pub scenario: Scenario,
    /// What is expected.
    pub expected: Expected,
    /// The percentage of rollouts that the reviewers saw rolled back by the test that they examined (500 rollouts), if they tried it.
    pub reviewed: Option<f64>,
    /// Whether the quick test runs it.
    pub is_quick: bool,
}

/// All rows.
pub fn rows() -> Vec<Row> {
    let alike = [good::rows(), waiting::rows(), few::rows()];
    let parts = [bad::rows(), bots::rows(), late::rows(), kept_sessions::rows()];
    alike.into_iter().chain(parts).flatten().collect()
}

/// A rate, and what was seen of it.
type Rate = (f64, Option<f64>);

/// Requests a second, with the percentage that the reviewers saw rolled back.
const fn at(rate: f64, reviewed: f64) -> Rate {
    (rate, Some(reviewed))
}

/// Requests a second that the reviewers did not try.
const fn untried(rate: f64) -> Rate {
    (rate, None)
}

fn each(name: &str, expected: Expected, rates: &[Rate], scenario: impl Fn(f64) -> Scenario) -> Vec<Row> {
    let row = |(rate, reviewed): &Rate| {
        let id = format!("{name} @{}", (rate * 1e3).round() / 1e3);
        let is_quick = QUICK.contains(&id.as_str());
        Row { id, scenario: scenario(*rate), expected, reviewed: *reviewed, is_quick }
    };
    rates.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_row_has_an_id_of_its_own_and_the_quick_ones_exist() {
        let all = rows();
        let ids: BTreeSet<&str> = all.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids.len(), all.len(), "two rows have one id");
        let missing: Vec<_> = QUICK.iter().filter(|id| !ids.contains(**id)).collect();
        assert!(missing.is_empty(), "no row is called {missing:?}: {ids:#?}");
    }
}
