//! Canaries that are worse, beside single clients that fail in both versions alike.

use super::Expected::{Bad, Mostly};
use super::{Row, at, each};
use crate::scenario::{Bots, Scenario};

/// Bots, and for the points that a canary adds what the reviewers saw rolled back at 20 and 200 requests a second.
type Beside = (Bots, &'static [(f64, f64, f64)]);

const BESIDE: [Beside; 6] = [
    (bots(1, 0.02, 1.0), &[(1.0, 2.4, 6.0), (5.0, 4.0, 10.6), (50.0, 90.8, 93.4)]),
    (bots(1, 0.01, 0.5), &[(1.0, 3.6, 8.2), (5.0, 31.6, 52.6), (50.0, 92.6, 79.4)]),
    (bots(1, 0.05, 0.05), &[(1.0, 15.8, 27.0), (5.0, 94.6, 97.6), (50.0, 98.4, 100.0)]),
    (bots(1, 0.01, 0.1), &[(1.0, 41.2, 63.6), (5.0, 96.8, 95.4), (50.0, 100.0, 100.0)]),
    (bots(1, 0.1, 0.2), &[(1.0, 4.8, 9.0), (5.0, 11.8, 24.8)]),
    (bots(3, 0.05, 0.2), &[(5.0, 0.8, 6.0), (50.0, 93.6, 96.0)]),
];

const fn bots(count: u8, share: f64, rate: f64) -> Bots {
    Bots { count, share, rate }
}

pub(super) fn rows() -> Vec<Row> {
    let beside = BESIDE.iter().flat_map(|(bots, each)| each.iter().flat_map(|seen| beside(*bots, *seen)));
    let sessions =
        each("bad: +5 points, a bot of 2% fails 100%", Bad, &[at(20.0, 1.0), at(200.0, 1.0)], |rate| {
            Scenario::sessions(rate).failing(0.002).canary_adds(0.05).with_bots(1, 0.02, 1.0)
        });
    beside.chain(sessions).collect()
}

fn beside(bots: Bots, (points, of_20, of_200): (f64, f64, f64)) -> Vec<Row> {
    let Bots { count, share, rate } = bots;
    let (percent, fails) = ((share * 100.0).round(), (rate * 100.0).round());
    let who = match count {
        1 => format!("a bot of {percent}% fails {fails}%"),
        _ => format!("{count} bots of {percent}% fail {fails}%"),
    };
    let name = format!("bad: users, +{points} points, {who}");
    let scenario = |requests: f64| {
        let users = Scenario::users(requests).failing(0.002).canary_adds(points / 100.0);
        users.with_bots(count, share, rate)
    };
    // One point at 20 requests a second takes most of the plan even without a bot.
    let of_little = if points < 2.0 { Mostly } else { Bad };
    [each(&name, of_little, &[at(20.0, of_20)], scenario), each(&name, Bad, &[at(200.0, of_200)], scenario)]
        .concat()
}
