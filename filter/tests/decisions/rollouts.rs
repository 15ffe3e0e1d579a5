//! While a rollout runs a pin says whether its session is older than the step; what counts by user group is that of new sessions.

use crate::baggage::inside;
use crate::fixture::{NOW, Proxy, Visit, WHO, get, is, key_on};
use assignment::seal::Seal;
use canary_filter::labels::is_counted_by_group;
use proptest::prelude::*;
use serde_json::json;

const DAY: u64 = 24 * 3600;
/// When the rollout began.
const SINCE: u64 = NOW - 3_600;

fn rollout(since: u64) -> Proxy {
    Proxy::session().with("rolloutSinceSeconds", json!(since))
}

/// Whether a request counts by group.
fn is_counted(proxy: &Proxy, visit: &Visit) -> bool {
    let sent = proxy.send(visit);
    let decision = &sent.state.as_ref().unwrap().decision;
    is_counted_by_group(sent.policy.release(decision.release).unwrap(), decision)
}

/// Whether the request of a session with this pin does.
fn counts(proxy: &Proxy, pin: &str) -> bool {
    is_counted(proxy, &get("/").cookie("S", "mine").cookie("__Host-pin", pin))
}

/// The pin in the response to a request with a pin, if there is one, whose session cookie is set anew.
fn renewed(proxy: &Proxy, pin: Option<&str>) -> String {
    let visit = get("/").cookie("S", &key_on(true));
    let sent = proxy.send(&match pin {
        Some(pin) => visit.cookie("__Host-pin", pin),
        None => visit,
    });
    let (version, epoch, who, issued) =
        sent.session_pin_in(&sent.respond(&[("set-cookie", "S=new")])).unwrap();
    proxy.sign(&Seal::pin(version.as_bytes(), epoch, who, issued))
}

#[test]
fn a_session_from_before_the_rollout_does_not_count_however_often_its_pin_is_renewed() {
    for now in [NOW, NOW + 1] {
        let proxy = rollout(SINCE).at(now);
        for issued in [SINCE - 1, SINCE - 2, SINCE - 40 * DAY] {
            let mut pin = proxy.pin("v2", 2, issued);
            for renewal in 0..3 {
                assert!(!counts(&proxy, &pin), "issued at {issued}, renewal {renewal} at {now}");
                pin = renewed(&proxy, Some(&pin));
            }
        }
    }
}

#[test]
fn a_session_that_begins_during_the_rollout_counts_and_still_does_after_each_renewal() {
    for now in [NOW, NOW + 1] {
        let proxy = rollout(SINCE).at(now);
        let mut pin = renewed(&proxy, None);
        for renewal in 0..3 {
            assert!(counts(&proxy, &pin), "renewal {renewal} at {now}");
            pin = renewed(&proxy, Some(&pin));
        }
    }
}

#[test]
fn a_session_that_is_older_than_the_filter_is_older_than_the_rollout_too() {
    for now in [NOW, NOW + 1] {
        let proxy = rollout(SINCE).with("adopt", json!("v1")).at(now);
        let visit = get("/").cookie("S", &key_on(true));
        assert_eq!(proxy.got(&visit), is("v1", "adopted"));
        assert!(!is_counted(&proxy, &visit), "adopted at {now}");
        let sent = proxy.send(&visit);
        let (version, epoch, who, issued) =
            sent.pin_in(&sent.respond(&[("cache-control", "no-store")])).unwrap();
        assert!(!counts(&proxy, &proxy.sign(&Seal::pin(version.as_bytes(), epoch, who, issued))), "its pin");
    }
}

#[test]
fn a_new_session_of_one_rollout_is_an_older_session_of_the_next() {
    let pin = renewed(&rollout(SINCE).at(NOW + 1), None);
    assert!(!counts(&rollout(NOW + 10).at(NOW + 20), &pin));
    let renewed_later = renewed(&rollout(NOW + 10).at(NOW + 21), Some(&pin));
    assert!(!counts(&rollout(NOW + 10).at(NOW + 30), &renewed_later));
}

/// The seconds in which a step reaches the proxies.
const DELIVERY: u64 = 5;

/// The pin of a session that begins at a second and is renewed at others, each by a proxy that has the step of `since_at` then.
fn pin_after(began: u64, renewals: &[u64], since_at: impl Fn(u64) -> u64) -> String {
    let first = renewed(&rollout(since_at(began)).at(began), None);
    renewals.iter().fold(first, |pin, at| renewed(&rollout(since_at(*at)).at(*at), Some(&pin)))
}

proptest! {
    /// A session keeps the step that it began in, however often its pin is renewed in later ones, by proxies that have a step at once or
    /// a few seconds late.
    #[test]
    fn a_session_of_an_earlier_step_counts_in_no_later_one(
        step in 20..600_u64,
        began in 0..600_u64,
        lag in 0..DELIVERY,
        mut renewals in proptest::collection::vec(0..1_200_u64, 0..6),
    ) {
        let second_step = SINCE + step;
        let since_at = |now: u64| if now < second_step + lag { SINCE } else { second_step };
        let began = SINCE + DELIVERY + 1 + began;
        renewals.sort_unstable();
        let renewals: Vec<u64> = renewals.into_iter().map(|after| began + after).collect();
        let pin = pin_after(began, &renewals, since_at);
        let now = began.max(second_step).max(*renewals.last().unwrap_or(&0)) + DELIVERY;
        let is_counted = counts(&rollout(second_step).at(now), &pin);
        if began <= second_step {
            prop_assert!(!is_counted, "began {began}, step at {second_step}, renewed at {renewals:?}");
        } else if began > second_step + DELIVERY {
            prop_assert!(is_counted, "began {began}, step at {second_step}, renewed at {renewals:?}");
        }
    }
}

#[test]
fn a_session_that_began_in_the_second_in_which_a_step_begins_is_older_than_it() {
    for step in [NOW, NOW + 1] {
        let pin = pin_after(step, &[], |_| SINCE);
        assert!(counts(&rollout(SINCE).at(step), &pin), "it counts in its own step");
        for renewals in [&[][..], &[step], &[step, step + 1], &[step + 40, step + 41]] {
            let pin = pin_after(step, renewals, |now| if now <= step { SINCE } else { step });
            assert!(!counts(&rollout(step).at(step + 60), &pin), "step at {step}, renewed at {renewals:?}");
        }
    }
}

#[test]
fn a_pin_keeps_its_issue_time_to_the_second_and_is_never_ahead() {
    for (now, since) in [(NOW, 0), (NOW + 1, 0), (NOW, SINCE), (NOW + 1, SINCE)] {
        let proxy = Proxy::session().with("rolloutSinceSeconds", json!(since)).at(now);
        let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
        let issued = sent.pin_in(&sent.respond(&[("set-cookie", "S=new")])).unwrap().3;
        let allowed = if since == 0 { now..=now } else { now - 1..=now };
        assert!(allowed.contains(&issued), "at {now}: {issued}");
    }
}

#[test]
fn without_a_rollout_nothing_counts_by_group_and_neither_do_testers_nor_who_is_in_doubt() {
    let proxy = rollout(0);
    assert!(!counts(&proxy, &proxy.pin("v2", 2, NOW - 1)));
    let proxy = rollout(SINCE).with("override", json!({"mode": "open"}));
    assert!(is_counted(&proxy, &get("/").cookie("S", &key_on(true))), "a new session");
    assert!(
        !is_counted(&proxy, &get("/").cookie("S", &key_on(true)).header("x-canary-override", "canary")),
        "a tester"
    );
    let unknown = proxy.pin("v3", 1, NOW - 1);
    assert!(
        !is_counted(&proxy, &get("/").cookie("S", "mine").cookie("__Host-pin", &unknown)),
        "an unknown version"
    );
}

#[test]
fn a_group_is_the_last_digit_of_the_identity() {
    assert_eq!(WHO.group(), 0xf);
    let last = WHO.to_string().chars().last().and_then(|digit| digit.to_digit(16));
    assert_eq!(last, Some(0xf));
}

#[test]
fn in_a_train_the_edge_marks_what_it_counts_and_the_mesh_counts_what_is_marked() {
    let with_train =
        |proxy: Proxy| proxy.with("train", json!("autumn")).with("override", json!({"mode": "open"}));
    let edge_at = |since| with_train(rollout(since)).with_proxy("baggage", json!("canary"));
    let (edge, mesh) = (edge_at(SINCE), inside(with_train(Proxy::mesh())));
    let new = get("/").cookie("S", &key_on(true));
    let older = get("/").cookie("S", "mine").cookie("__Host-pin", &edge.pin("v2", 2, SINCE - 1));
    let tester = get("/").cookie("S", &key_on(false)).header("x-canary-override", "canary");
    for (proxy, visit, expected) in [
        (&edge, &new, "autumn=canary;new"),
        (&edge, &older, "autumn=canary"),
        (&edge, &tester, "autumn=canary;override"),
        (&edge_at(0), &new, "autumn=canary"),
    ] {
        let sent = proxy.send(visit);
        let cohort = sent.headers.get("x-canary-cohort").unwrap();
        assert_eq!(cohort, expected);
        let inner = get("/").header("x-canary-id", WHO.to_string()).header("x-canary-cohort", cohort);
        assert_eq!(is_counted(&mesh, &inner), expected.ends_with(";new"), "{expected}");
        let by_baggage = get("/").header("baggage", sent.headers.get("baggage").unwrap());
        assert_eq!(is_counted(&mesh, &by_baggage), expected.ends_with(";new"), "by baggage: {expected}");
        assert_eq!(mesh.got(&by_baggage), mesh.got(&inner), "by baggage: {expected}");
    }
}

#[test]
fn the_mark_counts_in_its_train_alone_and_never_at_the_edge() {
    let marked =
        get("/").header("x-canary-id", WHO.to_string()).header("x-canary-cohort", "autumn=canary;new");
    assert!(is_counted(&Proxy::mesh().with("train", json!("autumn")), &marked));
    assert!(!is_counted(&Proxy::mesh().with("train", json!("spring")), &marked));
    assert!(!is_counted(&Proxy::session().with("train", json!("autumn")), &marked));
}
