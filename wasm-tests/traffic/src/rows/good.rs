//! Canaries that are as good as stable, or better.

use super::Expected::{Anything, Good, Plain};
use super::{Row, at, each, untried};
use crate::behaviour::{Behaviour, ByAge, ColdStart, Pauses, Pods};
use crate::scenario::Scenario;

pub(super) fn rows() -> Vec<Row> {
    [sessions(), ages(), pods(), users(), bundles(), other_kinds()].concat()
}

fn plain(rate: f64) -> Scenario {
    Scenario::sessions(rate).failing(0.003)
}

fn sessions() -> Vec<Row> {
    let cold = |is_each_step| ColdStart { rate: 0.05, seconds: 60.0, is_each_step };
    let cold_once = |rate| plain(rate).canary(|canary| canary.cold_start = Some(cold(false)));
    [
        each("good: plain", Plain, &[at(2.0, 0.0), at(20.0, 0.0), at(200.0, 0.2)], plain),
        each("good: diurnal", Plain, &[at(20.0, 0.0), at(200.0, 0.0)], |rate| {
            plain(rate).with(|scenario| scenario.is_diurnal = true)
        }),
        each("good: blips of both", Good, &[at(20.0, 0.0), at(200.0, 0.0)], |rate| plain(rate).with_blips()),
        each("good: canary is faster", Plain, &[at(20.0, 0.0), at(200.0, 0.0)], |rate| {
            plain(rate).canary(|canary| canary.pace = 0.8)
        }),
        each("good: cold start once", Good, &[at(20.0, 0.0)], cold_once),
        // Faults that users meet: a rollback is defensible.
        each("good: cold start once", Anything, &[at(200.0, 3.4)], cold_once),
        each("good: cold start at each step", Anything, &[at(20.0, 54.0)], |rate| {
            plain(rate).canary(|canary| canary.cold_start = Some(cold(true)))
        }),
        each("good: everything", Good, &[at(20.0, 0.0), untried(200.0)], |rate| {
            plain(rate).with_blips().with_unlucky(0.002, 1.0).with(|scenario| scenario.is_diurnal = true)
        }),
        each("good: 50% for 6h", Good, &[untried(20.0)], |rate| {
            plain(rate).with_plan(&[(50, 21_600)]).with(|scenario| scenario.horizon = 22_000)
        }),
    ]
    .concat()
}

fn ages() -> Vec<Row> {
    let first = |count, early, later| move |rate| Scenario::sessions(rate).failing_first(count, early, later);
    let first_3 = first(3, 0.02, 0.0005);
    [
        each(
            "good: first 3 requests 2%, later 0.05%",
            Good,
            &[at(2.0, 0.5), at(20.0, 7.6), at(200.0, 86.4)],
            first_3,
        ),
        each("good: first 3 requests 2%, gap 30s", Good, &[at(20.0, 22.2), at(200.0, 99.8)], move |rate| {
            first_3(rate).with_gap(30.0)
        }),
        each("good: first request 1%", Good, &[at(20.0, 0.8), at(200.0, 0.8)], first(1, 0.01, 0.0005)),
        each("good: first request 0.5%", Good, &[at(20.0, 0.0), at(200.0, 0.0)], first(1, 0.005, 0.001)),
        each("good: first 3 requests 2%, plan 10, 50%", Good, &[at(20.0, 2.4)], move |rate| {
            first_3(rate).with_plan(&[(10, 600), (50, 600)])
        }),
        each("good: first 3 requests 2%, plan 50%", Good, &[at(200.0, 0.2)], move |rate| {
            first_3(rate).with_plan(&[(50, 2_400)])
        }),
    ]
    .concat()
}

/// Pods of both versions that pause alike.
fn pausing(canary: u8, stable: u8, gap: f64, length: f64) -> impl Fn(f64) -> Scenario {
    move |rate| {
        let pauses = Some(Pauses { gap, length, rate: 0.9 });
        let pods = |count| Some(Pods { pauses, pausing: count, ..Pods::of(count) });
        Scenario::sessions(rate).failing(0.001).with(|scenario| {
            scenario.canary.pods = pods(canary);
            scenario.stable.pods = pods(stable);
        })
    }
}

fn pods() -> Vec<Row> {
    let bad_pod = Pods { first_adds: 0.03, ..Pods::of(9) };
    let pauses = Some(Pauses { gap: 600.0, length: 3.0, rate: 0.9 });
    let pausing_pod = Pods { pauses, pausing: 1, ..Pods::of(9) };
    [
        each(
            "good: pods pause 3s each 10min, 1+9 pods",
            Good,
            &[at(20.0, 16.4), at(200.0, 71.4)],
            pausing(1, 9, 600.0, 3.0),
        ),
        each(
            "good: pods pause 3s each 10min, 2+18 pods",
            Good,
            &[at(20.0, 7.8), at(200.0, 58.8)],
            pausing(2, 18, 600.0, 3.0),
        ),
        each(
            "good: pods pause 1s each 30min, 1+9 pods",
            Good,
            &[at(20.0, 0.8), at(200.0, 23.2)],
            pausing(1, 9, 1_800.0, 1.0),
        ),
        each(
            "good: one of 9 canary pods pauses 3s each 10min",
            Good,
            &[untried(20.0), untried(200.0)],
            move |rate| {
                Scenario::sessions(rate).failing(0.001).with(|scenario| {
                    scenario.canary.pods = Some(pausing_pod);
                    scenario.stable.pods = Some(Pods::of(9));
                })
            },
        ),
        each("good: one of 9 stable pods is bad", Plain, &[at(20.0, 0.0), at(200.0, 0.0)], move |rate| {
            Scenario::sessions(rate).failing(0.001).with(|scenario| scenario.stable.pods = Some(bad_pod))
        }),
    ]
    .concat()
}

fn users() -> Vec<Row> {
    let plain = |rate| Scenario::users(rate).failing(0.003);
    [
        each("good: users", Plain, &[at(20.0, 0.0), at(200.0, 0.4)], plain),
        each("good: users, crawler of 30% fails 3%", Good, &[at(20.0, 0.0), at(200.0, 0.0)], move |rate| {
            plain(rate).with_bots(1, 0.3, 0.03)
        }),
        each("good: users, 3 NATs of 8% fail 3%", Good, &[at(20.0, 0.6), at(200.0, 0.6)], move |rate| {
            plain(rate).with_bots(3, 0.08, 0.03)
        }),
        each("good: users, 6 bots of 3% fail 20%", Good, &[at(20.0, 0.0), at(200.0, 0.6)], |rate| {
            Scenario::users(rate).failing(0.001).with_bots(6, 0.03, 0.2)
        }),
        each("good: a bot of 2% fails 100%", Good, &[untried(20.0), untried(200.0)], |rate| {
            Scenario::sessions(rate).failing(0.002).with_bots(1, 0.02, 1.0)
        }),
    ]
    .concat()
}

/// Failures that come together.
fn bundles() -> Vec<Row> {
    let broken = |share, rest| move |rate| Scenario::sessions(rate).failing(rest).with_unlucky(share, 1.0);
    let retries = |share| {
        move |rate| Scenario::sessions(rate).failing(share).with(|scenario| scenario.has_retries = true)
    };
    [
        each("good: broken sessions 1%", Good, &[at(20.0, 0.0), at(200.0, 0.2)], broken(0.01, 0.001)),
        each("good: broken sessions 0.2% alone", Good, &[at(2.0, 0.0), at(20.0, 0.2)], broken(0.002, 0.0)),
        each("good: retries, 0.05%", Good, &[at(2.0, 0.0), at(20.0, 0.2)], retries(0.0005)),
        each("good: retries, 0.01%", Good, &[at(2.0, 0.0), at(20.0, 0.2)], retries(0.0001)),
    ]
    .concat()
}

/// Slow responses, 4xx and replaced session cookies, both versions alike.
fn other_kinds() -> Vec<Row> {
    let slow = |early, later| {
        move |rate| {
            let slow = move |version: &mut Behaviour| version.slow_responses = ByAge::first(3, early, later);
            plain(rate).both(slow).with(|scenario| scenario.judged.slow_responses = true)
        }
    };
    let logins = |first, early, later| {
        move |rate| plain(rate).both(move |version| version.lost_sessions = ByAge::first(first, early, later))
    };
    let three = |of_2, of_20, of_200| [at(2.0, of_2), at(20.0, of_20), at(200.0, of_200)];
    [
        each("good: first 3 requests 20% slow, later 2%", Good, &three(0.2, 51.8, 98.0), slow(0.2, 0.02)),
        each("good: first 3 requests 10% slow, later 5%", Good, &three(0.0, 0.4, 0.2), slow(0.1, 0.05)),
        each("good: first request 30% 4xx, later 1%", Good, &three(0.4, 44.0, 97.6), |rate| {
            plain(rate)
                .both(|version| version.client_errors = ByAge::first(1, 0.3, 0.01))
                .with(|scenario| scenario.judged.client_errors = true)
        }),
        each(
            "good: logins by GET in 30% of first 3 requests",
            Good,
            &[untried(20.0), untried(200.0)],
            logins(3, 0.3, 0.001),
        ),
        each(
            "good: logins by GET in 2% of requests",
            Good,
            &[untried(20.0), untried(200.0)],
            logins(0, 0.0, 0.02),
        ),
    ]
    .concat()
}
