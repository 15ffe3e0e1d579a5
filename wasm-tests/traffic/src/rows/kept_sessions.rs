//! Sessions of the application that end, as applications end them, and responses that fail after their headers.

use super::Expected::{Anything, Bad, Good, Mostly};
use super::{Row, each, untried};
use crate::behaviour::{ByAge, Pods};
use crate::scenario::Scenario;

/// Usual requests a second.
const BOTH: [super::Rate; 2] = [untried(20.0), untried(200.0)];

pub(super) fn rows() -> Vec<Row> {
    [restarts(), keys(), idle_sessions(), logins(), ends()].concat()
}

fn plain(rate: f64) -> Scenario {
    Scenario::sessions(rate).failing(0.002)
}

/// Two pods for each version that restart once in that many seconds, and have their sessions in memory.
fn restarting(canary: f64, stable: f64) -> impl Fn(f64) -> Scenario {
    let pods = |restarts| Some(Pods { restarts: Some(restarts), ..Pods::of(2) });
    move |rate| {
        plain(rate).with(|scenario| {
            scenario.canary.pods = pods(canary);
            scenario.stable.pods = pods(stable);
        })
    }
}

fn restarts() -> Vec<Row> {
    [
        each("good: pods of both restart each hour and forget", Good, &BOTH, restarting(3_600.0, 3_600.0)),
        each("good: pods of both restart each 5min and forget", Good, &BOTH, restarting(300.0, 300.0)),
        each("good: pods of both restart each hour and forget, gap 60s", Good, &BOTH, |rate| {
            restarting(3_600.0, 3_600.0)(rate).with_gap(60.0)
        }),
        each("bad: loses 3% of sessions, pods of both restart each hour", Bad, &BOTH, |rate| {
            restarting(3_600.0, 3_600.0)(rate).canary(|canary| canary.lost_sessions = ByAge::always(0.03))
        }),
        each("bad: canary pods restart each minute and forget", Bad, &BOTH, restarting(60.0, 36_000.0)),
        each("bad: canary pods restart each 10min and forget", Bad, &BOTH, restarting(600.0, 36_000.0)),
    ]
    .concat()
}

/// Users come with a session of stable and get one of the canary at their first request there.
fn keys() -> Vec<Row> {
    let users =
        |rate| Scenario::users(rate).failing(0.002).with(|scenario| scenario.judged.lost_sessions = true);
    [
        each("good: users, with one sign key", Good, &BOTH, users),
        each("bad: users, the canary has another sign key", Bad, &BOTH, move |rate| {
            users(rate).with(|scenario| scenario.has_own_keys = true)
        }),
        // Sessions stay on their version, so that none meets the other key.
        each("good: sessions, the canary has another sign key", Good, &BOTH, |rate| {
            plain(rate).with(|scenario| scenario.has_own_keys = true)
        }),
    ]
    .concat()
}

/// Ten seconds between two requests on average.
fn idle_sessions() -> Vec<Row> {
    let idle = |canary: f64, stable: f64| {
        move |rate| {
            plain(rate).both(move |version| version.idle = stable).canary(|version| version.idle = canary)
        }
    };
    [
        each("good: sessions of both end after 30s idle", Good, &BOTH, idle(30.0, 30.0)),
        each("bad: sessions end after 30s idle, stable's after 90s", Bad, &BOTH, idle(30.0, 90.0)),
        // 0.7 % of the requests: the least difference that is judged is 0.5 points.
        each(
            "bad: sessions end after 50s idle, stable's after 90s",
            Mostly,
            &[untried(200.0)],
            idle(50.0, 90.0),
        ),
        // No session of a step is idle for so long.
        each("bad: sessions end after 15min idle, stable's after 1h", Anything, &BOTH, idle(900.0, 3_600.0)),
    ]
    .concat()
}

/// A login by GET looks like a lost session. One by POST is none.
fn logins() -> Vec<Row> {
    let logins = |stable: f64| {
        move |rate| {
            plain(rate)
                .both(move |version| version.lost_sessions = ByAge::always(stable))
                .canary(|canary| canary.lost_sessions = ByAge::always(2.0 * stable))
        }
    };
    [
        each("good: twice the logins by GET, 0.4% of requests", Good, &BOTH, logins(0.002)),
        each("good: twice the logins by GET, 4% of requests", Good, &BOTH, logins(0.02)),
    ]
    .concat()
}

/// Bodies that are broken off, gRPC calls that fail in their trailers.
fn ends() -> Vec<Row> {
    let breaks_off = |canary: f64, stable: f64| {
        move |rate| {
            plain(rate)
                .both(move |version| version.breaks_off = stable)
                .canary(|version| version.breaks_off = canary)
        }
    };
    [
        each("good: 1% of bodies of both break off", Good, &BOTH, breaks_off(0.01, 0.01)),
        each("good: 5% of bodies of both break off", Good, &BOTH, breaks_off(0.05, 0.05)),
        each("bad: +1 points of bodies break off", Bad, &BOTH, breaks_off(0.01, 0.0)),
        each("bad: +5 points of bodies break off", Bad, &BOTH, breaks_off(0.05, 0.0)),
    ]
    .concat()
}
