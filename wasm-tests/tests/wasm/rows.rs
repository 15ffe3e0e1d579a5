//! The decision table through the ABI: one request a row, seen in the routing header and in the counter of its reason.

use crate::fixture::{
    NOW, WHO, config, count, pass, pin, release, routed, session_on, sign, standard, with, worker,
};
use assignment::contract::FilterConfig;
use assignment::seal::{KeyRing, Seal, baggage_keys};
use serde_json::{Value, json};
use std::time::Duration;
use wasm_host::{RequestHead, Vm};

/// The request gets this version, and is counted once under this tag.
fn check(vm: &Vm, request: RequestHead, version: &str, tag: &str) {
    let before = count(vm, tag);
    assert_eq!(routed(vm, request).as_deref(), Some(format!("shop/web/{version}").as_str()), "{tag}");
    assert_eq!(count(vm, tag), before + 1, "{tag}: {:?}", vm.proxy().metrics());
}

fn get() -> RequestHead {
    RequestHead::get("/")
}

fn cookie(line: &str) -> RequestHead {
    get().header("cookie", line)
}

#[test]
fn row_1_no_release_no_routing_header() {
    let vm = worker(&standard());
    let forged =
        get().authority("other.example").header("x-canary-version", "shop/web/v2").header("x_canary_id", "1");
    let headers = vm.request(forged).unwrap().headers();
    assert_eq!((headers.get("x-canary-version"), headers.get("x_canary_id")), (None, None));
    vm.tick().unwrap();
    assert_eq!(vm.proxy().metrics_with(&["canary_requests"]), 0);
}

#[test]
fn row_2_an_override_by_header_or_token() {
    let open = worker(&with("override", json!({"mode": "open"})));
    check(&open, get().header("x-canary-override", "canary"), "v2", "v2/canary/override");
    check(&open, get().header("x-canary-override", "v1"), "v1", "v1/stable/override");
    let token = json!({"mode": "token", "token": {"cookie": {"name": "__Host-token"}, "query": "t"}});
    let vm = worker(&with("override", token));
    let text = sign(&Seal::token(b"v2", 2, WHO, NOW - 5, NOW + 60));
    check(&vm, get().header("x-canary-token", &text), "v2", "v2/canary/override");
    check(&vm, cookie(&format!("__Host-token={text}")), "v2", "v2/canary/override");
    check(&vm, RequestHead::get(&format!("/?t={text}")), "v2", "v2/canary/override");
}

#[test]
fn row_3_a_pin() {
    let vm = worker(&standard());
    check(&vm, cookie(&format!("S=x; __Host-pin={}", pin("v2", 2))), "v2", "v2/canary/pin");
    check(&vm, cookie(&format!("__Host-pin={}", pin("v1", 1))), "v1", "v1/stable/pin");
    check(&vm, cookie(&format!("__Host-pin={}", pin("v3", 1))), "v1", "v1/stable/unknown");
    let (one, other) = (pin("v1", 1), pin("v2", 2));
    check(&vm, cookie(&format!("__Host-pin={one}; __Host-pin={other}")), "v1", "v1/stable/conflict");
    let old = format!("S={}; __Host-pin={}", session_on(false), pin("v2", 1));
    check(&vm, cookie(&old), "v1", "v1/stable/hash");
}

#[test]
fn row_4_the_cohort_inside_the_mesh() {
    let mut release = release();
    for (field, value) in [("stickiness", json!("user")), ("pin", Value::Null), ("train", json!("autumn"))] {
        release[field] = value;
    }
    let mut config = config(&json!({ "shop/web": release }));
    config["position"] = json!("mesh");
    let vm = worker(&config);
    check(&vm, get().header("x-canary-cohort", "autumn=canary"), "v2", "v2/canary/cohort");
    check(&vm, get().header("x-canary-cohort", "autumn=canary;override"), "v2", "v2/canary/override");
    check(&vm, get().header("x-canary-cohort", "spring=canary"), "v1", "v1/stable/fallback");
}

#[test]
fn row_4_the_cohort_in_baggage_while_it_is_younger_than_an_hour_and_not_ahead() {
    let mut release = release();
    for (field, value) in [("stickiness", json!("user")), ("pin", Value::Null), ("train", json!("autumn"))] {
        release[field] = value;
    }
    let mut config = config(&json!({ "shop/web": release }));
    let keys = baggage_keys(&FilterConfig::from_json(config.to_string().as_bytes()).unwrap().keys);
    (config["position"], config["baggage"]) = (json!("mesh"), json!("canary"));
    config["keys"] = serde_json::to_value(&keys).unwrap();
    let ring = KeyRing::new(&keys).unwrap();
    let vm = worker(&config);
    for (issued, version, tag) in [
        (NOW - 3_600, "v2", "v2/canary/cohort"),
        (NOW - 3_601, "v1", "v1/stable/fallback"),
        (NOW + 300, "v2", "v2/canary/cohort"),
        (NOW + 301, "v1", "v1/stable/fallback"),
        (NOW + 1_000_000, "v1", "v1/stable/fallback"),
    ] {
        let seal = Seal::baggage(b"autumn.canary", None, WHO, issued);
        let member = format!("canary={}", ring.sign("", &seal).unwrap());
        check(&vm, get().header("baggage", member), version, tag);
    }
}

#[test]
fn row_5_a_session_older_than_the_filter() {
    let vm = worker(&with("adopt", json!("v1")));
    check(&vm, cookie(&format!("S={}", session_on(true))), "v1", "v1/stable/adopted");
}

#[test]
fn row_6_a_key_of_each_kind() {
    let vm = worker(&standard());
    check(&vm, cookie(&format!("S={}", session_on(true))), "v2", "v2/canary/hash");
    check(&vm, cookie(&format!("S={}", session_on(false))), "v1", "v1/stable/hash");
    let canary = session_on(true);
    for (key, request) in [
        (json!({"header": "x-user"}), get().header("x-user", &canary)),
        (json!({"query": "u"}), RequestHead::get(&format!("/?u={canary}"))),
        (json!({"clientAddress": {}}), get().property(&["source", "address"], format!("{canary}:4711"))),
        (
            json!({"jwt": {"claim": ["realm", "user"]}}),
            get().property(
                &["metadata", "filter_metadata", "envoy.filters.http.jwt_authn", "payload", "realm", "user"],
                &canary,
            ),
        ),
    ] {
        let vm = worker(&with("identifyBy", json!([key])));
        check(&vm, request, "v2", "v2/canary/hash");
    }
}

#[test]
fn row_7_a_browser_without_a_key() {
    let all = worker(&with("weight", json!(10_000)));
    check(&all, get().navigation(), "v2", "v2/canary/minted");
    let nobody = worker(&with("weight", json!(0)));
    check(&nobody, get().navigation(), "v1", "v1/stable/minted");
}

#[test]
fn row_8_everything_else() {
    let vm = worker(&with("weight", json!(10_000)));
    check(&vm, get(), "v1", "v1/stable/fallback");
    let vm = worker(&with("fallback", json!("clientAddress")));
    let address = format!("{}:4711", session_on(true));
    check(&vm, get().property(&["source", "address"], address), "v2", "v2/canary/fallback");
}

#[test]
fn until_is_read_from_the_proxys_clock() {
    let vm = worker(&with("until", json!({"atSeconds": NOW + 10, "action": "rollback"})));
    let pinned = || cookie(&format!("S={}; __Host-pin={}", session_on(true), pin("v2", 2)));
    check(&vm, pinned(), "v2", "v2/canary/pin");
    pass(&vm, Duration::from_secs(10));
    check(&vm, pinned(), "v1", "v1/stable/hash");
}

#[test]
fn a_canary_without_healthy_pods_counts_as_gone_for_ten_seconds() {
    let vm = worker(&standard());
    let request = || cookie(&format!("S={}", session_on(true)));
    let mut failed = vm.request(request()).unwrap();
    let dead =
        wasm_host::ResponseHead::status(503).property(&["response", "code_details"], "no_healthy_upstream");
    failed.respond(dead).unwrap();
    check(&vm, request(), "v1", "v1/stable/unavailable");
    pass(&vm, Duration::from_secs(9));
    check(&vm, request(), "v1", "v1/stable/unavailable");
    pass(&vm, Duration::from_secs(1));
    check(&vm, request(), "v2", "v2/canary/hash");
}

#[test]
fn a_503_of_the_application_itself_leaves_the_canary_where_it_is() {
    let vm = worker(&standard());
    let request = || cookie(&format!("S={}", session_on(true)));
    let mut failed = vm.request(request()).unwrap();
    let own = wasm_host::ResponseHead::status(503).property(&["response", "code_details"], "via_upstream");
    failed.respond(own).unwrap();
    check(&vm, request(), "v2", "v2/canary/hash");
}
