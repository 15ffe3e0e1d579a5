//! The fuse: the workers of a proxy share what they have counted, and new sessions get stable while it is open.

mod hanging;

use crate::fixture::{
    NOW, config, count, pass, pinned, release, respond, routed, session_on, sign, uncacheable, with,
    worker_in,
};
use assignment::seal::Seal;
use assignment::{Identity, Salt, Weight};
use serde_json::{Value, json};
use std::time::Duration;
use wasm_host::{Proxy, RequestHead, ResponseHead, Vm, VmOptions};

const GAUGE: &str = "canary_fuse.component.shop/web.tag.v2/2;.open_until_seconds";
const SECOND: Duration = Duration::from_secs(1);

fn with_fuse() -> Value {
    with("fuse", json!(true))
}

/// The number of a user decides the first six bits of the identity, by which the fuse tells users apart.
fn who(number: u64) -> Identity {
    Identity::from_random((number << 58) | 0x0123_4567_89ab)
}

/// A request of a session that is pinned to a version.
fn pinned_to(version: &str, epoch: u32, user: u64) -> RequestHead {
    let pin = sign(&Seal::pin(version.as_bytes(), epoch, who(user), NOW - 60));
    RequestHead::get("/").header("cookie", format!("__Host-pin={pin}"))
}

/// A request of a user who would be new on the canary.
fn new_on_canary() -> RequestHead {
    RequestHead::get("/").header("cookie", format!("S={}", session_on(true)))
}

fn send(vm: &Vm, request: RequestHead, status: u16) {
    respond(vm.request(request).unwrap(), ResponseHead::status(status));
}

/// So many responses of stable, to as many users; none fails.
fn stable_is_well(vm: &Vm, responses: u64) {
    for user in 0..responses {
        send(vm, pinned_to("v1", 1, user % 64), 200);
    }
}

/// So many failed responses of the canary, to as many users.
fn canary_fails(vm: &Vm, responses: u64) {
    for user in 0..responses {
        send(vm, pinned_to("v2", 2, user % 64), 500);
    }
}

fn is_open(vm: &Vm) -> bool {
    let version = routed(vm, new_on_canary()).unwrap();
    assert!(["shop/web/v1", "shop/web/v2"].contains(&version.as_str()), "{version}");
    version == "shop/web/v1"
}

#[test]
fn two_workers_that_see_too_little_alone_open_the_fuse_together_and_it_closes_after_thirty_seconds() {
    let proxy = Proxy::new();
    let workers = [(); 2].map(|()| worker_in(&proxy, VmOptions::default(), &with_fuse()));
    for vm in &workers {
        stable_is_well(vm, 10);
        canary_fails(vm, 12);
        assert!(!is_open(vm), "nothing is shared before a tick");
    }
    for vm in &workers {
        vm.tick().unwrap();
    }
    assert!(is_open(&workers[1]), "the second one has added its counts to those of the first");
    // The first one reads it with the first request of its next second.
    assert!(!is_open(&workers[0]));
    pass(&workers[0], SECOND);
    assert!(is_open(&workers[0]));
    assert_eq!(proxy.metric(GAUGE), Some(NOW + 30));
    assert_eq!(count(&workers[0], "v1/stable/fused"), 1);
    let logs = format!("{:?}", workers[1].logs());
    assert!(logs.contains("canary: the fuse of shop/web/v2 is open"), "{logs}");
    proxy.advance(Duration::from_secs(29));
    for vm in &workers {
        vm.tick().unwrap();
        assert!(!is_open(vm));
    }
}

#[test]
fn a_worker_that_only_reads_the_fuse_does_not_open_it() {
    let proxy = Proxy::new();
    let [counting, reading] = [(); 2].map(|()| worker_in(&proxy, VmOptions::default(), &with_fuse()));
    // So that the fuse closes in the middle of a window.
    proxy.advance(SECOND * 3);
    stable_is_well(&counting, 30);
    canary_fails(&counting, 30);
    counting.tick().unwrap();
    assert_eq!(proxy.metric(GAUGE), Some(NOW + 33));
    proxy.advance(SECOND * 28);
    stable_is_well(&counting, 30);
    canary_fails(&counting, 30);
    pass(&counting, SECOND);
    pass(&reading, SECOND);
    assert!(!is_open(&reading), "it has closed, and nobody has opened it again");
    assert!(!format!("{:?}", reading.logs()).contains("is open"), "{:?}", reading.logs());
    assert_eq!(proxy.metric(GAUGE), Some(NOW + 33));
}

#[test]
fn an_open_fuse_stays_open_for_a_worker_that_cannot_add_its_counts() {
    let proxy = Proxy::new();
    let vm = worker_in(&proxy, VmOptions::default(), &with_fuse());
    stable_is_well(&vm, 30);
    canary_fails(&vm, 30);
    pass(&vm, SECOND);
    assert!(is_open(&vm));
    canary_fails(&vm, 1);
    proxy.overtake(100);
    vm.tick().unwrap();
    assert!(is_open(&vm));
    proxy.overtake(0);
}

#[test]
fn a_worker_whose_write_another_one_has_overtaken_adds_its_counts_again() {
    let proxy = Proxy::new();
    let vm = worker_in(&proxy, VmOptions::default(), &with_fuse());
    // There is something to overtake once a worker has written.
    stable_is_well(&vm, 30);
    vm.tick().unwrap();
    canary_fails(&vm, 30);
    proxy.overtake(1);
    vm.tick().unwrap();
    assert!(is_open(&vm));
}

#[test]
fn it_stays_open_when_the_weight_changes() {
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with_fuse());
    stable_is_well(&vm, 10);
    canary_fails(&vm, 20);
    vm.tick().unwrap();
    assert!(is_open(&vm));
    let mut changed = release();
    (changed["fuse"], changed["weight"], changed["generation"]) = (json!(true), json!(9_999), json!(8));
    assert!(vm.configure(config(&json!({ "shop/web": changed })).to_string()).unwrap(), "{:?}", vm.logs());
    assert!(is_open(&vm), "before the first tick under the new configuration");
}

#[test]
fn a_version_that_comes_back_has_a_new_fuse() {
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with_fuse());
    stable_is_well(&vm, 10);
    canary_fails(&vm, 20);
    vm.tick().unwrap();
    let mut again = release();
    (again["fuse"], again["versions"][1]["epoch"], again["gone"][0]["epoch"]) =
        (json!(true), json!(3), json!(2));
    assert!(vm.configure(config(&json!({ "shop/web": again })).to_string()).unwrap(), "{:?}", vm.logs());
    assert!(!is_open(&vm));
}

#[test]
fn without_a_fuse_a_canary_that_fails_gets_its_share() {
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with("fuse", json!(false)));
    stable_is_well(&vm, 10);
    canary_fails(&vm, 60);
    vm.tick().unwrap();
    assert!(!is_open(&vm));
    assert_eq!(vm.proxy().metric(GAUGE), None);
}

#[test]
fn an_open_fuse_moves_no_session_and_pins_the_new_ones_to_stable() {
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with_fuse());
    stable_is_well(&vm, 64);
    canary_fails(&vm, 64);
    vm.tick().unwrap();
    for user in 0..64 {
        assert_eq!(routed(&vm, pinned_to("v2", 2, user)).as_deref(), Some("shop/web/v2"), "user {user}");
        assert_eq!(routed(&vm, pinned_to("v1", 1, user)).as_deref(), Some("shop/web/v1"), "user {user}");
    }
    let opened =
        respond(vm.request(new_on_canary()).unwrap(), uncacheable().header("set-cookie", "S=opened"));
    assert_eq!(pinned(&opened).as_deref(), Some("v1"));
}

/// What somebody may send to open the fuse of a canary that is well; each of its responses has the status.
type Attack = (&'static str, fn(u64) -> RequestHead);

/// No more users than this attacker has sessions, or testers, or users whose failure is not the canary's.
const ATTACKS: [Attack; 13] = [
    ("a pinned user retries", |_| pinned_to("v2", 2, 7)),
    ("a user retries before a pin", |_| new_on_canary()),
    ("four users retry", |request| pinned_to("v2", 2, request % 4)),
    ("a pin with one session cookie after the other", |request| {
        let pin = sign(&Seal::pin(b"v2", 2, who(7), NOW - 60));
        RequestHead::get("/").header("cookie", format!("S=session-{request}; __Host-pin={pin}"))
    }),
    ("forged pins", |request| {
        let pin = sign(&Seal::pin(b"v2", 2, who(request % 64), NOW - 60)).replace('.', "x");
        RequestHead::get("/").header("cookie", format!("S={}; __Host-pin={pin}", session_on(true)))
    }),
    ("pins of the epoch before", |request| {
        let pin = sign(&Seal::pin(b"v2", 1, who(request % 64), NOW - 60));
        RequestHead::get("/").header("cookie", format!("S={}; __Host-pin={pin}", session_on(true)))
    }),
    ("pins that contradict each other", |request| {
        let pins = [1, 2].map(|other| sign(&Seal::pin(b"v2", 2, who((request + other) % 64), NOW - 60)));
        RequestHead::get("/").header("cookie", format!("__Host-pin={}; __Host-pin={}", pins[0], pins[1]))
    }),
    ("a tester with one session cookie after the other", |request| {
        RequestHead::get("/")
            .header("x-canary-override", "canary")
            .header("cookie", format!("S=session-{request}"))
    }),
    ("identities in a header", |request| {
        new_on_canary().header("x-canary-id", format!("{:016x}", who(request % 64).as_u64()))
    }),
    ("cohorts in a header", |_| new_on_canary().header("x-canary-cohort", "autumn=canary")),
    ("routing headers", |request| {
        RequestHead::get("/")
            .header("x-canary-version", "shop/web/v2")
            .header("cookie", format!("S={}", stable_session(request)))
    }),
    ("clients without cookies", |_| RequestHead::get("/")),
    ("another release", |request| pinned_to("v2", 2, request % 64).authority("other.example")),
];

/// A session id of the stable half, another for each number.
fn stable_session(number: u64) -> String {
    let half = Weight::new(5_000).unwrap();
    let is_stable =
        |key: &String| !Salt::new("salt").bucket(Identity::of_key(key.as_bytes())).is_canary_at(half);
    (0..100).map(|more| format!("stable-{number}-{more}")).find(is_stable).unwrap()
}

/// A worker with a fuse whose testers choose by header.
fn open_to_testers() -> Vm {
    let mut release = release();
    (release["fuse"], release["override"]) = (json!(true), json!({"mode": "open"}));
    worker_in(&Proxy::new(), VmOptions::default(), &config(&json!({ "shop/web": release })))
}

/// What is left of a proxy after an attack in which each response had this status.
fn after(attack: Attack, status: u16) -> Vm {
    let vm = open_to_testers();
    stable_is_well(&vm, 200);
    for request in 0..60 {
        send(&vm, (attack.1)(request), status);
    }
    vm.tick().unwrap();
    vm
}

#[test]
fn no_attack_opens_the_fuse_of_a_canary_that_is_well() {
    let mut attacks = 0;
    for attack in ATTACKS {
        for status in [500, 502, 503, 504] {
            let vm = after(attack, status);
            assert!(!is_open(&vm) && vm.proxy().metric(GAUGE).is_none(), "{} with {status}", attack.0);
            attacks += 1;
        }
    }
    assert!(attacks >= 50, "{attacks}");
}

/// A session counts as one user, so what it is served hides no other user's failure.
#[test]
fn no_attack_keeps_the_fuse_of_a_canary_that_fails_closed() {
    for attack in ATTACKS {
        let vm = after(attack, 200);
        canary_fails(&vm, 40);
        vm.tick().unwrap();
        assert!(is_open(&vm), "60 good responses: {}", attack.0);
    }
}

/// Requests of an attacker to stable, which make it look as bad as the canary.
const ATTACKS_ON_STABLE: [Attack; 4] = [
    ("a pinned user retries", |_| pinned_to("v1", 1, 63)),
    ("a session without a pin retries", |_| {
        RequestHead::get("/").header("cookie", format!("S={}", stable_session(0)))
    }),
    ("clients without cookies", |_| RequestHead::get("/")),
    ("a pin with one session cookie after the other", |request| {
        let pin = sign(&Seal::pin(b"v1", 1, who(7), NOW - 60));
        RequestHead::get("/").header("cookie", format!("S=session-{request}; __Host-pin={pin}"))
    }),
];

#[test]
fn no_attack_on_stable_keeps_the_fuse_of_a_canary_that_fails_closed() {
    for (what, request) in ATTACKS_ON_STABLE {
        for hangs in [false, true] {
            let vm = open_to_testers();
            stable_is_well(&vm, 60);
            let waiting = (0..200).map(|number| vm.request(request(number)).unwrap());
            if hangs {
                let waiting: Vec<_> = waiting.collect();
                (0..5).for_each(|_| pass(&vm, SECOND));
                drop(waiting);
            } else {
                waiting.for_each(|exchange| drop(respond(exchange, ResponseHead::status(503))));
            }
            canary_fails(&vm, 40);
            vm.tick().unwrap();
            assert!(is_open(&vm), "{what}, hangs: {hangs}");
        }
    }
}

#[test]
fn a_session_that_fails_does_not_make_the_errors_of_many_users_those_of_the_canary() {
    let vm = open_to_testers();
    stable_is_well(&vm, 64);
    for user in 0..64 {
        for request in 0..10 {
            let status = if request == 0 && user < 8 { 500 } else { 200 };
            send(&vm, pinned_to("v2", 2, user), status);
        }
    }
    for _ in 0..2_000 {
        send(&vm, pinned_to("v2", 2, 63), 500);
    }
    vm.tick().unwrap();
    assert!(!is_open(&vm));
}

#[test]
fn a_failure_of_both_versions_opens_no_fuse_though_one_session_is_served_well_by_stable() {
    let vm = open_to_testers();
    for user in 0..40 {
        send(&vm, pinned_to("v1", 1, user), 503);
        send(&vm, pinned_to("v2", 2, user), 503);
    }
    for _ in 0..400 {
        send(&vm, pinned_to("v1", 1, 63), 200);
    }
    vm.tick().unwrap();
    assert!(!is_open(&vm));
}

/// Both modules run in one process while one replaces the other.
#[test]
fn a_state_that_an_older_module_has_shared_is_neither_read_nor_replaced() {
    let proxy = Proxy::new();
    // Window, responses and failures of both versions, users, how often it opened, and until when it is open.
    let old: Vec<u8> = [NOW / 10, 60, 60, 60, 0, u64::MAX, 4, NOW + 600]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    proxy.share(GAUGE, &old);
    let vm = worker_in(&proxy, VmOptions::default(), &with_fuse());
    assert!(!is_open(&vm));
    stable_is_well(&vm, 30);
    canary_fails(&vm, 19);
    vm.tick().unwrap();
    assert!(!is_open(&vm), "19 responses");
    canary_fails(&vm, 1);
    vm.tick().unwrap();
    assert!(is_open(&vm));
    assert_eq!(proxy.metric(GAUGE), Some(NOW + 30));
    assert_eq!(proxy.shared_data(GAUGE), Some(old));
}

#[test]
fn responses_that_do_not_speak_against_the_canary_do_not_open_it() {
    for status in [200, 302, 400, 401, 404, 429] {
        let vm = after(("every user", |request| pinned_to("v2", 2, request % 64)), status);
        assert!(!is_open(&vm), "{status}");
    }
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with_fuse());
    for user in 0..60 {
        send(&vm, pinned_to("v1", 1, user), 503);
        send(&vm, pinned_to("v2", 2, user), 503);
    }
    vm.tick().unwrap();
    assert!(!is_open(&vm), "both versions fail");
}

#[test]
fn many_users_who_are_served_do_not_make_the_failures_of_one_those_of_many() {
    let vm = worker_in(&Proxy::new(), VmOptions::default(), &with_fuse());
    stable_is_well(&vm, 60);
    for user in 0..30 {
        send(&vm, pinned_to("v2", 2, 7), 500);
        send(&vm, pinned_to("v2", 2, user), 200);
    }
    vm.tick().unwrap();
    assert!(!is_open(&vm));
}

#[test]
fn testers_who_are_served_do_not_hide_that_the_canary_fails() {
    let vm = after(("a tester", |_| new_on_canary().header("x-canary-override", "canary")), 200);
    canary_fails(&vm, 40);
    vm.tick().unwrap();
    assert!(is_open(&vm), "60 responses of testers say nothing");
}

/// Who may open sessions at will and has the canary fail for them stops new sessions, and that is all.
#[test]
fn five_sessions_that_fail_open_it_and_move_nobody() {
    let vm = after(("five sessions", |request| pinned_to("v2", 2, request % 5)), 500);
    assert!(is_open(&vm));
    for user in 0..64 {
        assert_eq!(routed(&vm, pinned_to("v2", 2, user)).as_deref(), Some("shop/web/v2"), "user {user}");
    }
}
