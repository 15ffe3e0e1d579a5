//! Requests that nobody answers in time, in both versions alike: clients that leave, long polls, reports.

use super::Expected::Good;
use super::{Row, at, each, untried};
use crate::scenario::{LongResponses, Scenario};

pub(super) fn rows() -> Vec<Row> {
    [leaving(), long_responses()].concat()
}

fn leaves(share: f64) -> impl Fn(f64) -> Scenario {
    move |rate| Scenario::sessions(rate).failing(0.003).with(|scenario| scenario.leaves = share)
}

fn leaving() -> Vec<Row> {
    let alike = leaves(0.005);
    [
        each("good: clients of 0.1% leave", Good, &[at(20.0, 0.0), at(200.0, 84.2)], leaves(0.001)),
        each(
            "good: clients of 0.5% leave",
            Good,
            &[at(2.0, 0.0), at(20.0, 0.0), at(200.0, 100.0)],
            leaves(0.005),
        ),
        each("good: clients of 1% leave", Good, &[at(20.0, 0.0), at(200.0, 97.0)], leaves(0.01)),
        each("good: clients of 2% leave", Good, &[at(20.0, 0.0), at(200.0, 97.8)], leaves(0.02)),
        each("good: clients of 0.5% leave, 4h at 10%", Good, &[at(20.0, 98.0)], move |rate| {
            alike(rate).with_plan(&[(10, 14_400)]).with(|scenario| scenario.horizon = 15_000)
        }),
        each("good: users, clients of 0.5% leave", Good, &[untried(20.0), at(200.0, 97.2)], |rate| {
            Scenario::users(rate).failing(0.003).with(|scenario| scenario.leaves = 0.005)
        }),
        each("good: 5% unanswered", Good, &[untried(20.0), untried(200.0)], |rate| {
            Scenario::sessions(rate).failing(0.003).both(|version| version.hangs = 0.05)
        }),
    ]
    .concat()
}

fn long(share: f64, least: f64, most: f64) -> impl Fn(f64) -> Scenario {
    move |rate| {
        let long = Some(LongResponses { share, least, most });
        Scenario::sessions(rate).failing(0.003).with(|scenario| scenario.long_responses = long)
    }
}

fn long_responses() -> Vec<Row> {
    [
        each(
            "good: long polls 0.1% of 15-30s",
            Good,
            &[at(20.0, 4.0), at(200.0, 3.6)],
            long(0.001, 15.0, 30.0),
        ),
        each(
            "good: long polls 0.5% of 15-30s",
            Good,
            &[at(20.0, 81.2), at(200.0, 76.6)],
            long(0.005, 15.0, 30.0),
        ),
        each(
            "good: long polls 2% of 15-30s",
            Good,
            &[at(20.0, 100.0), at(200.0, 100.0)],
            long(0.02, 15.0, 30.0),
        ),
        each(
            "good: long polls 5% of 15-30s",
            Good,
            &[at(20.0, 100.0), at(200.0, 100.0)],
            long(0.05, 15.0, 30.0),
        ),
        each(
            "good: reports 0.5% of 10-20s",
            Good,
            &[at(20.0, 36.0), at(200.0, 26.2)],
            long(0.005, 10.0, 20.0),
        ),
    ]
    .concat()
}
