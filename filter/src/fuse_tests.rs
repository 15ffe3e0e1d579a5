use super::*;

/// Responses of a canary that fails at this rate, and of a stable version that does not.
fn counts(canary: u64, failed: u64, users: u32) -> ResponseCounts {
    let failed_users = (1_u64 << users) - 1;
    ResponseCounts { canary, canary_failed: failed, stable: 200, stable_failed: 0, failed_users }
}

#[test]
fn half_of_twenty_failed_responses_to_five_users_open_it_for_thirty_seconds() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 10, 5), 1_000));
    assert_eq!(fuse.open_until_seconds, 1_030);
}

#[test]
fn each_condition_alone_keeps_it_closed() {
    let broken = counts(20, 10, 5);
    let cases = [
        ("too few responses", ResponseCounts { canary: 19, ..broken }),
        ("less than half of them", ResponseCounts { canary_failed: 9, ..broken }),
        ("four users", ResponseCounts { failed_users: 0b1111, ..broken }),
        ("stable fails half as often", ResponseCounts { stable_failed: 50, ..broken }),
        ("nothing of stable to compare with", ResponseCounts { stable: 0, ..broken }),
    ];
    for (what, counts) in cases {
        assert!(!Fuse::default().add(&counts, 1_000), "{what}");
    }
    let barely = ResponseCounts { stable_failed: 49, ..broken };
    assert!(Fuse::default().add(&barely, 1_000), "stable fails less than half as often");
}

#[test]
fn the_counts_of_all_workers_of_one_window_add_up() {
    let mut fuse = Fuse::default();
    let quarter = |user: u32| ResponseCounts {
        canary: 5,
        canary_failed: 5,
        stable: 9,
        failed_users: 0b11 << user,
        ..Default::default()
    };
    assert!(!fuse.add(&quarter(0), 1_000));
    assert!(!fuse.add(&quarter(2), 1_003));
    assert!(!fuse.add(&quarter(4), 1_006));
    assert!(fuse.add(&quarter(6), 1_009));
}

#[test]
fn the_counts_of_another_window_do_not_count() {
    let mut fuse = Fuse::default();
    assert!(!fuse.add(&counts(19, 19, 5), 1_009));
    assert!(!fuse.add(&counts(19, 19, 5), 1_010), "19 responses in each");
}

#[test]
fn a_worker_whose_clock_is_behind_does_not_bring_an_old_window_back() {
    let mut fuse = Fuse::default();
    assert!(!fuse.add(&counts(15, 15, 5), 1_010));
    assert!(fuse.add(&counts(5, 5, 5), 1_009), "both are of the window that has begun");
}

#[test]
fn it_stays_open_twice_as_long_each_time_up_to_ten_minutes() {
    let mut fuse = Fuse::default();
    let mut now = 1_000;
    let mut durations = Vec::new();
    for _ in 0..7 {
        assert!(fuse.add(&counts(20, 20, 5), now), "at {now}");
        durations.push(fuse.open_until_seconds - now);
        now = fuse.open_until_seconds;
    }
    assert_eq!(durations, [30, 60, 120, 240, 480, 600, 600]);
}

#[test]
fn an_open_fuse_is_not_prolonged_by_the_sessions_that_stay_on_the_canary() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20, 5), 1_000));
    for now in 1_001..1_030 {
        assert!(!fuse.add(&counts(20, 20, 5), now));
    }
    assert_eq!(fuse.open_until_seconds, 1_030);
    assert!(
        fuse.add(&counts(0, 0, 0), 1_030) || fuse.add(&counts(20, 20, 5), 1_030),
        "then they open it again"
    );
}

#[test]
fn a_window_without_failures_makes_the_next_time_short_again() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20, 5), 1_000));
    assert!(fuse.add(&counts(20, 20, 5), 1_030));
    assert_eq!(fuse.open_until_seconds, 1_090);
    assert!(!fuse.add(&counts(20, 0, 0), 1_090));
    assert!(!fuse.add(&counts(1, 0, 0), 1_100), "the window before was a good one");
    assert!(fuse.add(&counts(20, 20, 5), 1_110));
    assert_eq!(fuse.open_until_seconds, 1_140);
}

#[test]
fn a_window_that_says_too_little_does_not_make_the_next_time_short() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20, 5), 1_000));
    assert!(!fuse.add(&counts(19, 0, 0), 1_030));
    assert!(fuse.add(&counts(20, 20, 5), 1_040));
    assert_eq!(fuse.open_until_seconds, 1_100);
}

#[test]
fn a_window_while_it_is_open_does_not_make_the_next_time_short() {
    let mut fuse = Fuse::default();
    assert!(fuse.add(&counts(20, 20, 5), 1_000));
    // Sessions that stay on the canary are served well for one window.
    assert!(!fuse.add(&counts(20, 0, 0), 1_010));
    assert!(!fuse.add(&counts(1, 0, 0), 1_020));
    assert!(fuse.add(&counts(20, 20, 5), 1_030));
    assert_eq!(fuse.open_until_seconds, 1_090);
}

#[test]
fn a_request_is_unanswered_after_five_seconds_and_after_two_if_its_client_goes_away() {
    let first = |is_client_gone| (0..60).find(|seconds| is_unanswered(*seconds, is_client_gone));
    assert_eq!((first(false), first(true)), (Some(5), Some(2)));
}

#[test]
fn users_are_told_apart_by_the_first_six_bits_of_their_identity() {
    assert_eq!(user_bit(Identity::from_random(0)), 1);
    assert_eq!(user_bit(Identity::from_random(u64::MAX)), 1 << 63);
    assert_eq!(user_bit(Identity::from_random(0x0fff_ffff_ffff_ffff)), 0b1000);
}

#[test]
fn the_shared_form_goes_there_and_back_and_what_is_missing_is_a_closed_fuse() {
    let mut fuse = Fuse::default();
    fuse.add(&counts(20, 20, 5), 1_000);
    fuse.add(&counts(7, 3, 9), 1_001);
    assert_eq!(Fuse::from_bytes(&fuse.to_bytes()), fuse);
    assert_eq!(Fuse::from_bytes(b""), Fuse::default());
    assert_eq!(Fuse::from_bytes(b"short"), Fuse::default());
}
