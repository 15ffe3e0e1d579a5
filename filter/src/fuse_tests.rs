use super::*;
use std::ops::Range;

/// A user who has this place.
fn who(place: u64) -> Identity {
    Identity::from_random((place << 58) | 0x0123_4567_89ab)
}

/// So many responses to each of these users, of which so many have failed.
fn to(users: Range<u64>, responses: u64, failed: u64) -> VersionCounts {
    let mut counts = VersionCounts::default();
    for user in users {
        (0..responses).for_each(|response| counts.count(Some(who(user)), response < failed));
    }
    counts
}

/// So many responses of the canary, one to each user, of which so many have failed. Stable is well.
fn counts(users: u64, failed: u64) -> ResponseCounts {
    let mut canary = to(0..failed, 1, 1);
    canary.add(&to(failed..users, 1, 0));
    ResponseCounts { canary, stable: to(0..50, 4, 0) }
}

fn opens(counts: &ResponseCounts) -> bool {
    Fuse::default().add(counts, 1_000)
}

#[test]
fn half_of_twenty_users_who_fail_open_it_for_thirty_seconds() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 10), 1_000));
    assert_eq!(fuse.open_until_seconds, 1_030);
}

#[test]
fn each_condition_alone_keeps_it_closed() {
    let broken = counts(20, 10);
    let of = |canary| ResponseCounts { canary, ..broken.clone() };
    let beside = |stable| ResponseCounts { stable, ..broken.clone() };
    for (what, counts) in [
        ("too few responses", counts(19, 19)),
        ("less than half of the users", counts(20, 9)),
        ("four users", of(to(0..4, 10, 10))),
        ("less than half of what each user gets", of(to(0..40, 11, 5))),
        ("stable fails half as often", beside(to(0..40, 4, 1))),
        (
            "stable fails for half as many",
            beside({
                let mut stable = to(0..10, 1, 1);
                stable.add(&to(10..40, 1, 0));
                stable
            }),
        ),
        ("nothing of stable to compare with", beside(VersionCounts::default())),
    ] {
        assert!(!opens(&counts), "{what}");
    }
    for (what, counts) in [
        ("five users", of(to(0..5, 4, 4))),
        ("half of what each user gets", of(to(0..40, 10, 5))),
        ("stable fails less than half as often", beside(to(0..40, 9, 2))),
        ("one user of stable to compare with", beside(to(7..8, 1, 0))),
    ] {
        assert!(opens(&counts), "{what}");
    }
}

#[test]
fn a_user_some_of_whose_responses_fail_counts_by_their_share() {
    let both = |one: VersionCounts, other: &VersionCounts| {
        let mut canary = one;
        canary.add(other);
        ResponseCounts { canary, stable: to(0..50, 4, 0) }
    };
    assert!(opens(&both(to(0..10, 3, 2), &to(10..20, 3, 1))), "two thirds and one third");
    assert!(!opens(&both(to(0..10, 3, 2), &to(10..20, 4, 1))), "two thirds and a quarter");
    assert!(
        !opens(&both(to(0..40, 12, 1), &VersionCounts::default())),
        "a page that fails beside its images"
    );
}

#[test]
fn the_counts_of_all_workers_of_one_window_add_up() {
    let mut fuse = Fuse::default();
    let quarter = |user| ResponseCounts { canary: to(user..user + 5, 1, 1), stable: to(0..9, 1, 0) };
    assert!(!fuse.add(&quarter(0), 1_000));
    assert!(!fuse.add(&quarter(5), 1_003));
    assert!(!fuse.add(&quarter(10), 1_006));
    assert!(fuse.add(&quarter(15), 1_009));
}

#[test]
fn the_counts_of_another_window_do_not_count() {
    let mut fuse = Fuse::default();
    assert!(!fuse.add(&counts(19, 19), 1_009));
    assert!(!fuse.add(&counts(19, 19), 1_010), "19 responses in each");
}

#[test]
fn a_worker_whose_clock_is_behind_does_not_bring_an_old_window_back() {
    let mut fuse = Fuse::default();
    assert!(!fuse.add(&counts(15, 15), 1_010));
    assert!(fuse.add(&counts(5, 5), 1_009), "both are of the window that has begun");
}

#[test]
fn it_stays_open_twice_as_long_each_time_up_to_ten_minutes() {
    let mut fuse = Fuse::default();
    let mut now = 1_000;
    let mut durations = Vec::new();
    for _ in 0..7 {
        assert!(fuse.add(&counts(20, 20), now), "at {now}");
        durations.push(fuse.open_until_seconds - now);
        now = fuse.open_until_seconds;
    }
    assert_eq!(durations, [30, 60, 120, 240, 480, 600, 600]);
}

#[test]
fn an_open_fuse_is_not_prolonged_by_the_sessions_that_stay_on_the_canary() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20), 1_000));
    for now in 1_001..1_030 {
        assert!(!fuse.add(&counts(20, 20), now));
    }
    assert_eq!(fuse.open_until_seconds, 1_030);
    assert!(fuse.add(&counts(20, 20), 1_030), "then they open it again");
}

#[test]
fn a_window_without_failures_makes_the_next_time_short_again() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20), 1_000));
    assert!(fuse.add(&counts(20, 20), 1_030));
    assert_eq!(fuse.open_until_seconds, 1_090);
    assert!(!fuse.add(&counts(20, 0), 1_090));
    assert!(!fuse.add(&counts(1, 0), 1_100), "the window before was a good one");
    assert!(fuse.add(&counts(20, 20), 1_110));
    assert_eq!(fuse.open_until_seconds, 1_140);
}

#[test]
fn a_window_that_says_too_little_does_not_make_the_next_time_short() {
    let stable = || to(0..50, 4, 0);
    for (what, window) in [
        ("19 responses", counts(19, 0)),
        ("four users, however many responses", ResponseCounts { canary: to(0..4, 500, 0), stable: stable() }),
        ("both versions fail", ResponseCounts { canary: to(0..20, 1, 1), stable: to(0..20, 1, 1) }),
        ("stable has no response", ResponseCounts { canary: to(0..20, 1, 1), ..Default::default() }),
    ] {
        let mut fuse = Fuse::default();
        assert!(fuse.add(&counts(20, 20), 1_000));
        assert!(!fuse.add(&window, 1_030), "{what}");
        assert!(fuse.add(&counts(20, 20), 1_040), "{what}");
        assert_eq!(fuse.open_until_seconds, 1_100, "{what}");
    }
}

#[test]
fn a_window_while_it_is_open_does_not_make_the_next_time_short() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20), 1_000));
    // Sessions that stay on the canary are served well for one window.
    assert!(!fuse.add(&counts(20, 0), 1_010));
    assert!(!fuse.add(&counts(1, 0), 1_020));
    assert!(fuse.add(&counts(20, 20), 1_030));
    assert_eq!(fuse.open_until_seconds, 1_090);
}

/// A worker with a tick each second from `since` on; a request that comes at `came` and whose client goes away at `gone`. Milliseconds.
fn is_counted(since: u64, came: u64, gone: u64) -> bool {
    let mut waiting = Waiting::New;
    let ticks = (since..).step_by(1_000);
    let counted = ticks.skip_while(|tick| *tick < came).take_while(|tick| *tick <= gone);
    counted.into_iter().any(|tick| waiting.tick(tick)) || waiting.client_gone(|| gone)
}

#[test]
fn a_request_whose_client_goes_counts_after_two_to_three_seconds_and_never_before() {
    for tick in [0, 1, 250, 500, 999] {
        for came in (1_000..2_000).step_by(50) {
            let first = (0..10_000).find(|waited| is_counted(tick, came, came + waited));
            assert!(first.is_some_and(|first| (2_000..=3_000).contains(&first)), "{tick} {came}: {first:?}");
        }
    }
}

#[test]
fn a_request_whose_client_waits_counts_once_after_four_to_five_seconds() {
    for tick in [0, 1, 250, 500, 999] {
        for came in (1_000..2_000).step_by(50) {
            let mut waiting = Waiting::New;
            let ticks = (tick..60_000).step_by(1_000).skip_while(|tick| *tick < came);
            let counted: Vec<u64> = ticks.filter(|tick| waiting.tick(*tick)).collect();
            assert!(
                matches!(counted[..], [at] if (4_000..=5_000).contains(&(at - came))),
                "{came}: {counted:?}"
            );
            assert_eq!(waiting, Waiting::Unanswered);
            assert!(!waiting.client_gone(|| 60_000), "it has been counted");
        }
    }
}

#[test]
fn while_a_worker_is_busy_no_request_grows_old() {
    let mut waiting = Waiting::New;
    assert!(!waiting.client_gone(|| 60_000), "no tick has seen it");
    let mut waiting = Waiting::New;
    assert!(!waiting.tick(60_000), "the first tick for a minute");
    assert!(!waiting.client_gone(|| 60_001));
}

#[test]
fn a_wait_goes_on_where_the_low_half_of_the_clock_ends_and_a_clock_that_is_set_back_says_nothing() {
    let end = 0x1_0000_0000;
    for (since, now, is_counted) in [
        (end - 1_500, end + 500, true),
        (end - 1_500, end + 400, false),
        (end + 5_000, end + 4_999, false),
        (end + 5_000, end - 5_000, false),
    ] {
        let mut waiting = Waiting::New;
        assert!(!waiting.tick(since));
        assert_eq!(waiting.client_gone(|| now), is_counted, "{since} to {now}");
    }
}

#[test]
fn what_is_not_awaited_is_never_counted() {
    let mut waiting = Waiting::default();
    assert!(!waiting.tick(0) && !waiting.tick(60_000) && !waiting.client_gone(|| 90_000));
}

#[test]
fn users_are_told_apart_by_the_first_six_bits_of_their_identity() {
    let place = |identity| {
        let mut counts = VersionCounts::default();
        counts.count(identity, true);
        counts.users.iter().position(|user| *user == UserCounts { responses: 1, failed: 1 })
    };
    assert_eq!(place(Some(Identity::from_random(0))), Some(0));
    assert_eq!(place(Some(Identity::from_random(u64::MAX))), Some(63));
    assert_eq!(place(Some(Identity::from_random(0x0fff_ffff_ffff_ffff))), Some(3));
    assert_eq!(place(None), Some(0), "all requests without a user are one");
}

#[test]
fn a_place_that_is_full_does_not_overflow() {
    let mut one = to(0..1, 40_000, 40_000);
    one.add(&to(0..1, 40_000, 40_000));
    one.count(Some(who(0)), true);
    assert_eq!(one.failures(), Failures { responses: 65_535, users: 1, failed_users: 1, shares: WHOLE });
    let mut all = to(0..64, 40_000, 40_000);
    all.add(&all.clone());
    assert_eq!(all.failures().shares, 64 * WHOLE);
    assert!(opens(&ResponseCounts { canary: all, stable: to(0..64, 1, 0) }));
}

#[test]
fn the_shared_form_goes_there_and_back_and_what_is_missing_is_a_closed_fuse() {
    let mut fuse = Fuse::default();
    fuse.add(&counts(20, 20), 1_000);
    fuse.add(&ResponseCounts { canary: to(3..64, 300, 299), stable: to(0..64, 1, 1) }, 1_001);
    let bytes = fuse.to_bytes();
    assert_eq!(bytes.len(), Fuse::LEN);
    assert_eq!(Fuse::from_bytes(&bytes), fuse);
    assert_eq!(Fuse::from_bytes(b""), Fuse::default());
    assert_eq!(Fuse::from_bytes(b"short"), Fuse::default());
}

#[test]
fn a_state_of_another_length_is_a_closed_fuse() {
    let mut fuse = Fuse::default();
    fuse.add(&counts(20, 20), 1_000);
    let bytes = fuse.to_bytes();
    for length in [8, 24, 64, Fuse::LEN - 1] {
        assert_eq!(Fuse::from_bytes(&bytes[..length]), Fuse::default(), "{length} bytes");
    }
    assert_eq!(Fuse::from_bytes(&[&bytes[..], &[0]].concat()), Fuse::default());
}
