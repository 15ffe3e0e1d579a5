//! Who can open a fuse, and who can keep it closed: one session counts as one user, however many requests it sends.

use assignment::Identity;
use canary_filter::fuse::{Fuse, ResponseCounts, VersionCounts};
use std::ops::Range;

/// The requests that an attacker sends in a window. The last is more than a place counts.
const REQUESTS: [u64; 5] = [1, 45, 1_000, 20_000, 70_000];

/// The attacker's sessions begin here; the other users' are below.
const ATTACKER: u64 = 56;

/// Another user for each number; places are shared by those whose numbers differ by a multiple of 64.
fn who(number: u64) -> Identity {
    Identity::from_random(number.rotate_right(6))
}

/// So many responses to each of these users, of which so many have failed.
fn send(counts: &mut VersionCounts, users: Range<u64>, responses: u64, failed: u64) {
    for user in users {
        (0..responses).for_each(|response| counts.count(Some(who(user)), response < failed));
    }
}

/// The counts that an attacker adds, by so many requests.
type Attack = fn(&mut ResponseCounts, u64);

/// The requests that one session can send.
const ONE_SESSION: [(&str, Attack); 8] = [
    ("nothing", |_, _| {}),
    ("successes on the canary", |counts, requests| {
        send(&mut counts.canary, ATTACKER..ATTACKER + 1, requests, 0);
    }),
    ("failures on the canary", |counts, requests| {
        send(&mut counts.canary, ATTACKER..ATTACKER + 1, requests, requests);
    }),
    ("successes on stable", |counts, requests| {
        send(&mut counts.stable, ATTACKER..ATTACKER + 1, requests, 0);
    }),
    ("failures on stable", |counts, requests| {
        send(&mut counts.stable, ATTACKER..ATTACKER + 1, requests, requests);
    }),
    ("successes of stable by clients without cookies", |counts, requests| {
        (0..requests).for_each(|_| counts.stable.count(None, false));
    }),
    ("failures of stable by clients without cookies", |counts, requests| {
        (0..requests).for_each(|_| counts.stable.count(None, true));
    }),
    ("successes on the canary, failures on stable", |counts, requests| {
        send(&mut counts.canary, ATTACKER..ATTACKER + 1, requests, 0);
        send(&mut counts.stable, ATTACKER..ATTACKER + 1, requests, requests);
    }),
];

/// The responses to the other users of a proxy in a window, and whether the fuse has to open.
type Traffic = (&'static str, fn(&mut ResponseCounts), bool);

const TRAFFIC: [Traffic; 14] = [
    (
        "40 users of the canary fail once",
        |counts| {
            send(&mut counts.canary, 0..40, 1, 1);
            send(&mut counts.stable, 0..56, 1, 0);
        },
        true,
    ),
    (
        "20 users of the canary fail, few of stable are there",
        |counts| {
            send(&mut counts.canary, 0..20, 2, 2);
            send(&mut counts.stable, 20..24, 1, 0);
        },
        true,
    ),
    (
        "60% of a thousand users fail, each of whom sends four requests",
        |counts| {
            send(&mut counts.canary, 0..600, 4, 4);
            send(&mut counts.canary, 600..1_000, 4, 0);
            send(&mut counts.stable, 0..1_000, 4, 0);
        },
        true,
    ),
    (
        "every user fails with 60% of the requests",
        |counts| {
            send(&mut counts.canary, 0..40, 10, 6);
            send(&mut counts.stable, 0..50, 10, 0);
        },
        true,
    ),
    (
        "a canary that fails while stable fails a little",
        |counts| {
            send(&mut counts.canary, 0..56, 5, 4);
            send(&mut counts.stable, 0..1_000, 10, 1);
        },
        true,
    ),
    (
        "all is well",
        |counts| {
            send(&mut counts.canary, 0..56, 5, 0);
            send(&mut counts.stable, 0..56, 5, 0);
        },
        false,
    ),
    (
        "5% of the users of the canary have one failure",
        |counts| {
            send(&mut counts.canary, 0..10, 5, 1);
            send(&mut counts.canary, 10..200, 5, 0);
            send(&mut counts.stable, 0..200, 5, 0);
        },
        false,
    ),
    (
        "four users fail, ten do not",
        |counts| {
            send(&mut counts.canary, 0..4, 5, 5);
            send(&mut counts.canary, 4..14, 5, 0);
            send(&mut counts.stable, 0..56, 5, 0);
        },
        false,
    ),
    (
        "five users fail with many requests, forty do not",
        |counts| {
            send(&mut counts.canary, 0..5, 300, 300);
            send(&mut counts.canary, 5..45, 1, 0);
            send(&mut counts.stable, 0..56, 5, 0);
        },
        false,
    ),
    (
        "a page fails for everybody, its ten images do not",
        |counts| {
            send(&mut counts.canary, 0..56, 11, 1);
            send(&mut counts.stable, 0..56, 11, 0);
        },
        false,
    ),
    (
        "both versions fail",
        |counts| {
            send(&mut counts.canary, 0..56, 5, 5);
            send(&mut counts.stable, 0..56, 5, 5);
        },
        false,
    ),
    (
        "both versions fail with half of the requests of a thousand users",
        |counts| {
            send(&mut counts.canary, 0..1_000, 4, 2);
            send(&mut counts.stable, 0..1_000, 4, 2);
        },
        false,
    ),
    (
        "both versions fail for 60% of the users",
        |counts| {
            send(&mut counts.canary, 0..34, 1, 1);
            send(&mut counts.canary, 34..56, 1, 0);
            send(&mut counts.stable, 0..34, 1, 1);
            send(&mut counts.stable, 34..56, 1, 0);
        },
        false,
    ),
    ("no traffic", |_| {}, false),
];

fn opens(traffic: fn(&mut ResponseCounts), attack: Attack, requests: u64) -> bool {
    let mut counts = ResponseCounts::default();
    traffic(&mut counts);
    attack(&mut counts, requests);
    Fuse::default().add(&counts, 1_000)
}

#[test]
fn no_session_alone_opens_a_fuse_or_keeps_one_closed() {
    let mut wrong = Vec::new();
    for (traffic, send_traffic, has_to_open) in TRAFFIC {
        for (attack, send_attack) in ONE_SESSION {
            for requests in REQUESTS {
                if opens(send_traffic, send_attack, requests) != has_to_open {
                    wrong
                        .push(format!("{traffic}; one session: {requests} {attack}: open: {}", !has_to_open));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// A client with several sessions is as many users, and no more.
#[test]
fn what_an_attacker_opens_or_keeps_closed_takes_as_many_sessions_as_there_are_users() {
    let well = |sessions: u64, others: u64, requests| {
        let mut counts = ResponseCounts::default();
        send(&mut counts.canary, 0..others, 5, 0);
        send(&mut counts.canary, others..others + sessions, requests, requests);
        send(&mut counts.stable, 0..40, 5, 0);
        Fuse::default().add(&counts, 1_000)
    };
    let broken = |sessions: u64, others: u64, requests| {
        let mut counts = ResponseCounts::default();
        send(&mut counts.canary, 0..others, 5, 5);
        send(&mut counts.canary, others..others + sessions, requests, 0);
        send(&mut counts.stable, 0..40, 5, 0);
        Fuse::default().add(&counts, 1_000)
    };
    let stable_broken = |sessions: u64, others: u64, requests| {
        let mut counts = ResponseCounts::default();
        send(&mut counts.canary, 0..40, 5, 5);
        send(&mut counts.stable, 0..others, 5, 0);
        send(&mut counts.stable, others..others + sessions, requests, requests);
        Fuse::default().add(&counts, 1_000)
    };
    for requests in [5, 1_000, 20_000] {
        assert!(!well(4, 0, requests), "four sessions alone, {requests} requests each");
        assert!(well(5, 0, requests) && well(5, 5, requests), "five beside five users, {requests}");
        assert!(!well(5, 6, requests), "five beside six users, {requests}");
        assert!(!well(20, 30, requests), "twenty beside thirty users, {requests}");
        assert!(broken(9, 10, requests), "nine who are served beside ten who are not, {requests}");
        assert!(!broken(11, 10, requests), "eleven beside ten, {requests}");
        assert!(stable_broken(4, 6, requests), "four of ten fail on stable, {requests}");
        assert!(!stable_broken(5, 5, requests), "five of ten fail on stable, {requests}");
    }
}

/// Each further time is twice as long. A session that is served keeps that from no broken canary.
#[test]
fn no_session_alone_makes_the_next_time_short() {
    let broken = |counts: &mut ResponseCounts| {
        send(&mut counts.canary, 0..20, 1, 1);
        send(&mut counts.stable, 0..40, 1, 0);
    };
    for requests in REQUESTS {
        let mut fuse = Fuse::default();
        let mut counts = ResponseCounts::default();
        broken(&mut counts);
        assert!(fuse.add(&counts, 1_000));
        assert_eq!(fuse.open_until_seconds, 1_030);
        let mut attack = ResponseCounts::default();
        send(&mut attack.canary, ATTACKER..ATTACKER + 1, requests, 0);
        for window in [1_030, 1_040, 1_050] {
            assert!(!fuse.add(&attack, window));
        }
        assert!(fuse.add(&counts, 1_060));
        assert_eq!(fuse.open_until_seconds, 1_120, "after {requests} successes of one session");
    }
}
