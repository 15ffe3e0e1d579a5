//! A canary that hangs: requests without a response count as failed ones.

use super::{ATTACKS, SECOND, canary_fails, is_open, new_on_canary, pinned_to, stable_is_well, with_fuse};
use crate::fixture::{config, pass, pinned, release, respond, routed, uncacheable, with, worker_in};
use serde_json::json;
use std::time::Duration;
use wasm_host::{Exchange, Proxy, RequestHead, Vm, VmOptions};

const UNANSWERED: &str = "canary_unanswered.component.shop/web.tag.v2/canary;.total";

fn worker() -> Vm {
    worker_in(&Proxy::new(), VmOptions::default(), &with_fuse())
}

fn requests(vm: &Vm, count: u64, request: fn(u64) -> RequestHead) -> Vec<Exchange> {
    (0..count).map(|number| vm.request(request(number)).unwrap()).collect()
}

fn to_canary(user: u64) -> RequestHead {
    pinned_to("v2", 2, user % 64)
}

/// So many seconds, each with its tick.
fn wait(vm: &Vm, seconds: u32) {
    (0..seconds).for_each(|_| pass(vm, SECOND));
}

/// After so many seconds, in which stable has responded.
fn after(vm: &Vm, seconds: u32) {
    stable_is_well(vm, 30);
    wait(vm, seconds);
}

#[test]
fn a_canary_that_hangs_opens_the_fuse_after_five_seconds_and_each_request_counts_once() {
    let vm = worker();
    let hanging = requests(&vm, 20, to_canary);
    after(&vm, 4);
    assert!(!is_open(&vm));
    assert_eq!(vm.proxy().metric(UNANSWERED), None);
    after(&vm, 1);
    assert!(is_open(&vm));
    assert_eq!(vm.proxy().metric(UNANSWERED), Some(20));
    after(&vm, 5);
    drop(hanging);
    after(&vm, 1);
    assert_eq!(vm.proxy().metric(UNANSWERED), Some(20));
}

/// Whether requests count that come so long after a tick and whose clients go away after so long. Milliseconds.
fn count_if_left(came: u64, waited: u64) -> bool {
    let vm = worker();
    stable_is_well(&vm, 30);
    let mut now = 0;
    let mut go_to = |then: u64| {
        while now < then {
            let next = then.min((now / 1_000 + 1) * 1_000);
            vm.proxy().advance(Duration::from_millis(next - now));
            now = next;
            if now.is_multiple_of(1_000) {
                vm.tick().unwrap();
            }
        }
    };
    go_to(came);
    let hanging = requests(&vm, 30, to_canary);
    go_to(came + waited);
    assert!(!is_open(&vm), "they wait");
    drop(hanging);
    vm.tick().unwrap();
    is_open(&vm)
}

/// The clock is read once a second; two seconds are two all the same.
#[test]
fn a_client_that_goes_away_counts_after_three_seconds_and_before_two_it_never_does() {
    for came in [1, 10, 500, 850, 990, 999] {
        for waited in [0, 900, 1_000, 1_150, 1_500, 1_990, 1_999] {
            assert!(!count_if_left(came, waited), "{came} ms after a tick, away after {waited} ms");
        }
        for waited in [3_000, 3_500, 3_900] {
            assert!(count_if_left(came, waited), "{came} ms after a tick, away after {waited} ms");
        }
    }
}

#[test]
fn a_client_that_goes_away_at_once_does_not_count_after_the_worker_was_busy() {
    let vm = worker();
    stable_is_well(&vm, 30);
    // Five seconds without a tick; then the requests, the tick, and no client any more.
    vm.proxy().advance(SECOND * 5);
    let hanging = requests(&vm, 30, to_canary);
    vm.tick().unwrap();
    vm.proxy().advance(Duration::from_millis(50));
    drop(hanging);
    vm.tick().unwrap();
    assert!(!is_open(&vm));
    assert_eq!(vm.proxy().metric(UNANSWERED), None);
}

#[test]
fn responses_and_requests_without_one_add_up() {
    let vm = worker();
    let hanging = requests(&vm, 10, to_canary);
    after(&vm, 4);
    canary_fails(&vm, 9);
    pass(&vm, SECOND);
    assert!(!is_open(&vm), "19 of the canary");
    canary_fails(&vm, 1);
    vm.tick().unwrap();
    assert!(is_open(&vm), "20 of the canary");
    drop(hanging);
}

#[test]
fn a_response_that_comes_late_does_not_count_again() {
    let vm = worker();
    let mut late = requests(&vm, 19, to_canary);
    after(&vm, 5);
    assert_eq!(vm.proxy().metric(UNANSWERED), Some(19));
    for stream in &mut late {
        stream.respond(uncacheable()).unwrap();
    }
    vm.tick().unwrap();
    assert!(!is_open(&vm), "19 of the canary");
    canary_fails(&vm, 1);
    vm.tick().unwrap();
    assert!(is_open(&vm), "20 of the canary, and all have failed");
}

#[test]
fn a_response_that_comes_in_time_counts_as_what_it_is_and_an_open_stream_counts_no_more() {
    let vm = worker();
    let mut streams = requests(&vm, 40, to_canary);
    wait(&vm, 4);
    for stream in &mut streams {
        stream.respond(uncacheable()).unwrap();
    }
    after(&vm, 30);
    drop(streams);
    after(&vm, 1);
    assert!(!is_open(&vm));
    assert_eq!(vm.proxy().metric(UNANSWERED), None);
}

#[test]
fn what_does_not_speak_against_the_canary_does_not_open_it() {
    let both: fn(u64) -> RequestHead = |user| match user % 2 {
        0 => pinned_to("v1", 1, user / 2),
        _ => pinned_to("v2", 2, user / 2),
    };
    let uploads: fn(u64) -> RequestHead = |user| to_canary(user).with_body();
    let of_stable: fn(u64) -> RequestHead = |user| pinned_to("v1", 1, user % 64);
    for (what, request, is_stable_well) in [
        ("both versions hang", both, false),
        // With a stable version to compare with, since they alone keep the fuse closed.
        ("bodies that take long to send", uploads, true),
        ("stable hangs", of_stable, false),
    ] {
        let vm = worker();
        let hanging = requests(&vm, 120, request);
        if is_stable_well {
            stable_is_well(&vm, 30);
        }
        wait(&vm, 5);
        drop(hanging);
        vm.tick().unwrap();
        assert!(!is_open(&vm), "{what}");
    }
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with("fuse", json!(false)));
    let hanging = requests(&vm, 60, to_canary);
    after(&vm, 6);
    drop(hanging);
    after(&vm, 1);
    assert!(!is_open(&vm), "no fuse");
    assert_eq!(vm.proxy().metric(UNANSWERED), None);
}

#[test]
fn requests_of_testers_that_hang_are_not_counted() {
    let mut release = release();
    (release["fuse"], release["override"]) = (json!(true), json!({"mode": "open"}));
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &config(&json!({ "shop/web": release })));
    let hanging = requests(&vm, 60, |_| new_on_canary().header("x-canary-override", "canary"));
    after(&vm, 6);
    assert_eq!(vm.proxy().metric(UNANSWERED), None);
    drop(hanging);
}

/// Who attacks chooses when to go away, and whether to send the whole request.
#[test]
fn no_attack_by_requests_that_wait_opens_the_fuse_of_a_canary_that_is_well() {
    let mut attacks = 0;
    for (what, request) in ATTACKS {
        for (seconds, has_body) in [(1, false), (3, false), (6, false), (6, true)] {
            let mut release = release();
            (release["fuse"], release["override"]) = (json!(true), json!({"mode": "open"}));
            let vm = worker_in(&Proxy::new(), VmOptions::default(), &config(&json!({ "shop/web": release })));
            let head = |number| if has_body { request(number).with_body() } else { request(number) };
            let waiting: Vec<Exchange> = (0..60).map(|number| vm.request(head(number)).unwrap()).collect();
            after(&vm, seconds);
            drop(waiting);
            after(&vm, 1);
            let what = format!("{what}, away after {seconds} s, body: {has_body}");
            assert!(!is_open(&vm) && vm.proxy().metric(super::GAUGE).is_none(), "{what}");
            attacks += 1;
        }
    }
    assert!(attacks >= 50, "{attacks}");
}

/// The same bound as for responses: nobody is moved.
#[test]
fn an_open_fuse_moves_no_session_of_a_canary_that_hangs() {
    let vm = worker();
    let hanging = requests(&vm, 64, to_canary);
    after(&vm, 5);
    assert!(is_open(&vm));
    for user in 0..64 {
        let version = routed(&vm, to_canary(user));
        assert_eq!(version.as_deref(), Some("shop/web/v2"), "user {user}");
    }
    let opened =
        respond(vm.request(new_on_canary()).unwrap(), uncacheable().header("set-cookie", "S=opened"));
    assert_eq!(pinned(&opened).as_deref(), Some("v1"));
    drop(hanging);
}
