//! Canaries that are worse.

use super::Expected::{Anything, Bad, Mostly, NotPromoted};
use super::{Expected, Row, at, each};
use crate::behaviour::{Behaviour, ByAge, Leak, Unlucky};
use crate::scenario::{LongResponses, Scenario};

/// Of slow responses of stable, where it was asked for its 95th percentile.
const SLOW: f64 = 0.05;
/// Those of a version that takes twice as long, where times are log-normal with σ = 1.
const TWICE_AS_SLOW: f64 = 0.17;

pub(super) fn rows() -> Vec<Row> {
    [everybody(), some(), hanging(), other_kinds(), rates()].concat()
}

fn plain(rate: f64) -> Scenario {
    Scenario::sessions(rate).failing(0.002)
}

fn points(name: &str, expected: [Expected; 3], reviewed: [f64; 3], adds: f64) -> Vec<Row> {
    let [of_2, of_20, of_200] = reviewed;
    let rates = [at(2.0, of_2), at(20.0, of_20), at(200.0, of_200)];
    let row = |(rate, expected)| each(name, expected, &[rate], |rate| plain(rate).canary_adds(adds));
    rates.into_iter().zip(expected).flat_map(row).collect()
}

/// Faults that each user meets.
fn everybody() -> Vec<Row> {
    let both = |of_20, of_200| [at(20.0, of_20), at(200.0, of_200)];
    let leak = Leak { rate: 0.05, seconds: 1_800.0 };
    [
        points("bad: +0.5 points", [Anything, Mostly, Bad], [31.4, 97.2, 100.0], 0.005),
        points("bad: +1 points", [Mostly, Bad, Bad], [89.2, 100.0, 100.0], 0.01),
        points("bad: +5 points", [Bad, Bad, Bad], [100.0, 100.0, 100.0], 0.05),
        points("bad: +50 points", [Bad, Bad, Bad], [100.0, 100.0, 100.0], 0.5),
        each("bad: an endpoint of 2% fails", Bad, &both(100.0, 100.0), |rate| plain(rate).canary_adds(0.02)),
        each("bad: leak, 0 to 5% in 30min", Bad, &both(100.0, 100.0), move |rate| {
            plain(rate).canary(|canary| canary.leak = Some(leak))
        }),
        each("bad: +5 points among blips", Bad, &both(100.0, 100.0), |rate| {
            plain(rate).canary_adds(0.05).with_blips()
        }),
        each("bad: users, +5 points", Bad, &both(100.0, 100.0), |rate| {
            Scenario::users(rate).failing(0.002).canary_adds(0.05)
        }),
        each("bad: users, +1 points", Bad, &both(97.8, 100.0), |rate| {
            Scenario::users(rate).failing(0.002).canary_adds(0.01)
        }),
        each("bad: +5 points, 1% of sessions broken in both", Mostly, &both(80.4, 100.0), |rate| {
            plain(rate).with_unlucky(0.01, 1.0).canary_adds(0.05)
        }),
    ]
    .concat()
}

/// Faults that a part of the users meets.
fn some() -> Vec<Row> {
    let unlucky = |share, fails| {
        move |rate| plain(rate).canary(|canary| canary.unlucky = Some(Unlucky { share, rate: fails }))
    };
    let both = |of_20, of_200| [at(20.0, of_20), at(200.0, of_200)];
    [
        each("bad: logged in (30%) fail 10%", Bad, &both(100.0, 100.0), unlucky(0.3, 0.1)),
        each("bad: one country (10%) fails 50%", Bad, &both(100.0, 100.0), unlucky(0.1, 0.5)),
        each("bad: 1% of users fail always", Anything, &[at(20.0, 57.0)], unlucky(0.01, 1.0)),
        each("bad: 1% of users fail always", Mostly, &[at(200.0, 100.0)], unlucky(0.01, 1.0)),
        // By design: one user, or one group of users, rolls no canary back.
        each("bad: one group (1/16) fails always", Anything, &both(1.0, 0.2), |rate| {
            plain(rate).canary(|canary| canary.failing_group = Some(3))
        }),
    ]
    .concat()
}

fn hanging() -> Vec<Row> {
    let hangs = |rate| plain(rate).canary(|canary| canary.hangs = 0.1);
    let long = LongResponses { share: 0.05, least: 15.0, most: 30.0 };
    [
        each("bad: hangs with 10%", Bad, &[at(20.0, 100.0), at(200.0, 100.0)], hangs),
        each("bad: hangs with 10% among long polls", Bad, &[at(20.0, 100.0)], move |rate| {
            hangs(rate).with(|scenario| scenario.long_responses = Some(long))
        }),
    ]
    .concat()
}

/// Slow responses, lost sessions.
fn other_kinds() -> Vec<Row> {
    let loses = |of_stable: f64, of_canary: f64| {
        move |rate| {
            plain(rate)
                .both(move |version| version.lost_sessions = ByAge::always(of_stable))
                .canary(|canary| canary.lost_sessions = ByAge::always(of_canary))
        }
    };
    let both = [at(20.0, 100.0), at(200.0, 100.0)];
    [
        each("bad: twice as slow", Bad, &both, |rate| {
            let slow = |version: &mut Behaviour| version.slow_responses = ByAge::always(SLOW);
            let slower = |canary: &mut Behaviour| canary.slow_responses = ByAge::always(TWICE_AS_SLOW);
            plain(rate).both(slow).canary(slower).with(|scenario| scenario.judged.slow_responses = true)
        }),
        // More logins by GET look the same: a person decides.
        each("bad: loses sessions, 2% to 5%", NotPromoted, &both, loses(0.02, 0.05)),
        each("bad: loses sessions, 0.1% to 3.1%", Bad, &both, loses(0.001, 0.031)),
        each(
            "bad: loses 3% of sessions, logins in first 3 requests",
            NotPromoted,
            &[super::untried(200.0)],
            |rate| {
                plain(rate)
                    .both(|version| version.lost_sessions = ByAge::first(3, 0.3, 0.001))
                    .canary(|canary| canary.lost_sessions = ByAge::first(3, 0.33, 0.031))
            },
        ),
    ]
    .concat()
}

/// Rates that are large already, and grow little.
fn rates() -> Vec<Row> {
    [
        each("bad: 10% to 12%", Anything, &[at(20.0, 15.6), at(200.0, 18.8)], |rate| {
            Scenario::sessions(rate).failing(0.1).canary_adds(0.02 / 0.9)
        }),
        each("bad: 30% to 35% as 4xx", Anything, &[at(20.0, 2.6), at(200.0, 1.2)], |rate| {
            plain(rate)
                .both(|version| version.client_errors = ByAge::always(0.3))
                .canary(|canary| canary.client_errors = ByAge::always(0.35))
                .with(|scenario| scenario.judged.client_errors = true)
        }),
    ]
    .concat()
}
