//! Counters and gauges: their names are Istio's tag patterns, their values what happened.

use crate::fixture::{
    NOW, pass, pin, respond, session_on, sign, standard, uncacheable, with, worker, worker_in,
};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use wasm_host::{Proxy, RequestHead, ResponseHead, VmOptions};

const GENERATION: &str = "canary_generation.component.shop/web.tag.0;.active";
const HASHED: &str = "canary_requests.component.shop/web.tag.v2/canary/hash;.total";

fn user(canary: bool) -> RequestHead {
    RequestHead::get("/").header("cookie", format!("S={}", session_on(canary)))
}

#[test]
fn every_metric_has_its_name_and_value() {
    let vm = worker(&with("override", json!({"mode": "open"})));
    for (request, status) in [
        (user(true), 200),
        (user(true), 204),
        (user(false), 404),
        (RequestHead::get("/").header("cookie", format!("__Host-pin={}", pin("v2", 2))), 500),
        (RequestHead::get("/").header("x-canary-override", "canary"), 302),
    ] {
        respond(vm.request(request).unwrap(), ResponseHead::status(status));
    }
    vm.tick().unwrap();
    let expected: BTreeMap<String, u64> = [
        ("canary_inert", 0),
        (GENERATION, 7),
        ("canary_requests.component.shop/web.tag.v1/stable/hash;.total", 1),
        ("canary_requests.component.shop/web.tag.v2/canary/hash;.total", 2),
        ("canary_requests.component.shop/web.tag.v2/canary/override;.total", 1),
        ("canary_requests.component.shop/web.tag.v2/canary/pin;.total", 1),
        ("canary_responses.component.shop/web.tag.v1/stable/4xx;.total", 1),
        ("canary_responses.component.shop/web.tag.v2/canary/2xx;.total", 2),
        ("canary_responses.component.shop/web.tag.v2/canary/5xx;.total", 1),
        ("canary_responses.component.shop/web.tag.v2/override/3xx;.total", 1),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    assert_eq!(vm.proxy().metrics(), expected);
}

#[test]
fn while_a_rollout_runs_users_are_counted_by_the_last_digit_of_their_identity() {
    let vm = worker(&with("rolloutSinceSeconds", json!(NOW - 3_600)));
    let who = |last: u64| Identity::from_random(0x0123_4567_89ab_cde0 + last);
    // Of sessions that began during the rollout: their issue times are odd.
    let pin = |last, issued| sign(&Seal::pin(b"v2", 2, who(last), issued));
    let pinned = |pin: String| RequestHead::get("/").header("cookie", format!("__Host-pin={pin}"));
    for (last, status) in [(3, 200), (3, 503), (12, 404)] {
        respond(vm.request(pinned(pin(last, NOW - 59))).unwrap(), ResponseHead::status(status));
    }
    // Not answered, and the session of a pin that is older than the rollout.
    let hanging = vm.request(pinned(pin(12, NOW - 59))).unwrap();
    respond(vm.request(pinned(pin(5, NOW - 3_601))).unwrap(), ResponseHead::status(500));
    vm.tick().unwrap();
    let mut found = vm.proxy().metrics();
    found.retain(|name, _| name.starts_with("canary_group_"));
    let expected: BTreeMap<String, u64> = [
        ("canary_group_requests.component.shop/web.tag.v2/3;.total", 2),
        ("canary_group_requests.component.shop/web.tag.v2/12;.total", 2),
        ("canary_group_responses.component.shop/web.tag.v2/3;.total", 2),
        ("canary_group_responses.component.shop/web.tag.v2/12;.total", 1),
        ("canary_group_server_errors.component.shop/web.tag.v2/3;.total", 1),
        ("canary_group_client_errors.component.shop/web.tag.v2/12;.total", 1),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    assert_eq!(found, expected);
    drop(hanging);
}

/// Whether the release has a fuse decides nothing of it.
#[test]
fn a_request_without_a_response_in_time_counts_once_for_its_group_and_its_late_response_too() {
    for fuse in [false, true] {
        let mut config = with("rolloutSinceSeconds", json!(NOW - 3_600));
        (config["releases"]["shop/web"]["fuse"], config["releases"]["shop/web"]["override"]) =
            (json!(fuse), json!({"mode": "open"}));
        let vm = worker(&config);
        let pinned = |last: u64, issued| {
            let who = Identity::from_random(0x0123_4567_89ab_cde0 + last);
            let pin = sign(&Seal::pin(b"v2", 2, who, issued));
            RequestHead::get("/").header("cookie", format!("__Host-pin={pin}"))
        };
        let mut late = vm.request(pinned(3, NOW - 59)).unwrap();
        let leaves = vm.request(pinned(12, NOW - 59)).unwrap();
        // A session that is older than the step, a tester, and a body that is still being sent.
        let others = [
            pinned(5, NOW - 3_601),
            RequestHead::get("/").header("x-canary-override", "canary"),
            pinned(6, NOW - 59).with_body(),
        ]
        .map(|head| vm.request(head).unwrap());
        (0..4).for_each(|_| pass(&vm, Duration::from_secs(1)));
        drop(leaves);
        pass(&vm, Duration::from_secs(1));
        let mut found = vm.proxy().metrics();
        found.retain(|name, _| name.starts_with("canary_group_unanswered"));
        let name = |group| format!("canary_group_unanswered.component.shop/web.tag.v2/{group};.total");
        assert_eq!(found, BTreeMap::from([(name(3), 1), (name(12), 1)]), "fuse: {fuse}");
        late.respond(uncacheable()).unwrap();
        (0..6).for_each(|_| pass(&vm, Duration::from_secs(1)));
        assert_eq!(vm.proxy().metric(&name(3)), Some(1), "once");
        let responses = "canary_group_responses.component.shop/web.tag.v2/3;.total";
        assert_eq!(vm.proxy().metric(responses), Some(1), "it is a response all the same");
        let of_fuse = vm.proxy().metrics_with(&["canary_unanswered."]);
        assert_eq!(of_fuse > 0, fuse, "{of_fuse}");
        drop(others);
    }
}

#[test]
fn inside_a_train_users_are_counted_by_group_while_a_rollout_runs_at_the_edge() {
    let mut config = with("train", json!("autumn"));
    config["position"] = json!("mesh");
    let vm = worker(&config);
    let inner = |cohort: &str| {
        RequestHead::get("/").header("x-canary-id", "0123456789abcde3").header("x-canary-cohort", cohort)
    };
    for (cohort, status) in [("autumn=canary;new", 200), ("autumn=canary;new", 500), ("autumn=canary", 500)] {
        respond(vm.request(inner(cohort)).unwrap(), ResponseHead::status(status));
    }
    vm.tick().unwrap();
    let mut found = vm.proxy().metrics();
    found.retain(|name, _| name.starts_with("canary_group_"));
    let expected: BTreeMap<String, u64> = [
        ("canary_group_requests.component.shop/web.tag.v2/3;.total", 2),
        ("canary_group_responses.component.shop/web.tag.v2/3;.total", 2),
        ("canary_group_server_errors.component.shop/web.tag.v2/3;.total", 1),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    assert_eq!(found, expected);
}

#[test]
fn a_response_is_slow_from_the_millisecond_after_the_allowed_time_on() {
    let name = |group| format!("canary_group_slow_responses.component.shop/web.tag.v2/{group};.total");
    for (slower_than, expected) in [(250, [None, Some(1)]), (0, [None, None])] {
        let mut config = with("rolloutSinceSeconds", json!(NOW - 3_600));
        config["releases"]["shop/web"]["slowerThanMilliseconds"] = json!(slower_than);
        let vm = worker(&config);
        for (group, milliseconds) in [(3, 250), (12, 251)] {
            let who = Identity::from_random(0x0123_4567_89ab_cde0 + group);
            let pin = sign(&Seal::pin(b"v2", 2, who, NOW - 59));
            let request = RequestHead::get("/").header("cookie", format!("__Host-pin={pin}"));
            let exchange = vm.request(request).unwrap();
            vm.proxy().advance(Duration::from_millis(milliseconds));
            respond(exchange, ResponseHead::status(200));
        }
        vm.tick().unwrap();
        assert_eq!([vm.proxy().metric(&name(3)), vm.proxy().metric(&name(12))], expected, "{slower_than}");
        assert!(vm.proxy().metrics().keys().all(|name| !name.starts_with("canary_latency")));
    }
}

#[test]
fn the_generation_is_reported_by_the_first_request() {
    let vm = worker(&standard());
    assert_eq!(vm.proxy().metric(GENERATION), None, "a configuration that was only tried says nothing");
    vm.request(user(true)).unwrap();
    assert_eq!(vm.proxy().metric(GENERATION), Some(7));
}

#[test]
fn the_generation_is_reported_by_a_tick_where_no_request_comes() {
    let vm = worker(&standard());
    let root = vm.serving().unwrap();
    let period = vm.tick_milliseconds(root);
    assert!(period.is_some_and(|period| period > 0), "{period:?}");
    vm.tick().unwrap();
    assert_eq!(vm.proxy().metric(GENERATION), Some(7));
    assert_eq!(vm.tick_milliseconds(root), Some(1_000), "then the clock is all that is left to do");
    assert!(vm.configure(with("generation", json!(8)).to_string()).unwrap(), "{:?}", vm.logs());
    vm.tick().unwrap();
    assert_eq!(vm.proxy().metric(GENERATION), Some(8));
}

#[test]
fn all_of_many_generations_are_reported_in_time() {
    let releases: serde_json::Map<String, serde_json::Value> = (0..2_000)
        .map(|number| {
            let mut release = crate::fixture::release();
            (release["hosts"], release["generation"]) =
                (json!([format!("h{number}.example")]), json!(number));
            (format!("shop/r{number}"), release)
        })
        .collect();
    let vm = worker(&crate::fixture::config(&releases.into()));
    for _ in 0..10 {
        vm.tick().unwrap();
    }
    let reported =
        |number: u64| vm.proxy().metric(&format!("canary_generation.component.shop/r{number}.tag.0;.active"));
    for number in 0..2_000 {
        assert_eq!(reported(number), Some(number), "release {number}");
    }
    assert_eq!(vm.tick_milliseconds(vm.serving().unwrap()), Some(1_000));
}

#[test]
fn workers_count_into_the_same_metrics() {
    let proxy = Proxy::new();
    for _ in 0..3 {
        let vm = worker_in(&proxy, VmOptions::default(), &standard());
        respond(vm.request(user(true)).unwrap(), uncacheable());
        vm.tick().unwrap();
    }
    assert_eq!(proxy.metric(HASHED), Some(3));
}

#[test]
fn counters_are_flushed_once_also_by_a_configuration_that_is_replaced() {
    let vm = worker(&standard());
    let visit =
        |count: u32| (0..count).for_each(|_| drop(respond(vm.request(user(true)).unwrap(), uncacheable())));
    visit(5);
    assert_eq!(vm.proxy().metric(HASHED), None, "not with each request");
    for total in [5, 5] {
        vm.tick().unwrap();
        assert_eq!(vm.proxy().metric(HASHED), Some(total));
    }
    visit(2);
    let old = vm.serving().unwrap();
    assert!(vm.configure(with("generation", json!(8)).to_string()).unwrap(), "{:?}", vm.logs());
    visit(3);
    vm.retire(old).unwrap();
    assert_eq!(vm.proxy().metric(HASHED), Some(7), "those of the old configuration");
    vm.tick().unwrap();
    assert_eq!(vm.proxy().metric(HASHED), Some(10));
}

#[test]
fn what_users_do_defines_no_metrics() {
    let vm = worker(&standard());
    let visit = |number: u32| {
        let request = RequestHead::get(&format!("/{number}"))
            .header("cookie", format!("S={number}; __Host-pin={number}"));
        respond(vm.request(request).unwrap(), uncacheable());
    };
    (0..50).for_each(visit);
    vm.tick().unwrap();
    let names = vm.proxy().metrics().len();
    let definitions = vm.host_calls()["proxy_define_metric"];
    (50..1_000).for_each(visit);
    vm.tick().unwrap();
    assert_eq!((vm.proxy().metrics().len(), vm.host_calls()["proxy_define_metric"]), (names, definitions));
}

#[test]
fn latencies_are_kept_where_the_release_asks_for_them() {
    let name = "canary_latency.component.shop/web.tag.v2/canary;.milliseconds";
    for (asked, kept) in [(true, Some(vec![250])), (false, None)] {
        let vm = worker(&with("latencyHistogram", json!(asked)));
        let exchange = vm.request(user(true)).unwrap();
        vm.proxy().advance(Duration::from_millis(250));
        respond(exchange, ResponseHead::status(200));
        assert_eq!(vm.proxy().recorded(name), kept, "asked: {asked}");
    }
}

#[test]
fn latencies_of_testers_are_recorded_apart() {
    let mut config = with("latencyHistogram", json!(true));
    config["releases"]["shop/web"]["override"] = json!({"mode": "open"});
    let vm = worker(&config);
    let tester = RequestHead::get("/").header("x-canary-override", "canary");
    for (request, milliseconds) in [(user(true), 250), (tester, 40)] {
        let exchange = vm.request(request).unwrap();
        vm.proxy().advance(Duration::from_millis(milliseconds));
        respond(exchange, ResponseHead::status(200));
    }
    let recorded = |role: &str| {
        vm.proxy().recorded(&format!("canary_latency.component.shop/web.tag.v2/{role};.milliseconds"))
    };
    assert_eq!((recorded("canary"), recorded("override")), (Some(vec![250]), Some(vec![40])));
}
