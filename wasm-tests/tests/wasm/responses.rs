//! What the response carries, through the ABI: pins, ids, tokens hidden, filter state, debug header.

use crate::fixture::{
    NOW, WHO, count, pin, pinned, respond, session_on, set_cookie, sign, standard, uncacheable, with, worker,
    worker_in,
};
use assignment::seal::Seal;
use serde_json::json;
use wasm_host::{Proxy, Randomness, RequestHead, ResponseHead, VmOptions};

#[test]
fn the_pin_comes_with_the_session_cookie_and_names_who_answered() {
    let vm = worker(&standard());
    for (canary, version) in [(true, "v2"), (false, "v1")] {
        let request = || RequestHead::get("/").header("cookie", format!("S={}", session_on(canary)));
        let set =
            respond(vm.request(request()).unwrap(), uncacheable().header("set-cookie", "S=new; Path=/"));
        assert_eq!(pinned(&set).as_deref(), Some(version));
        assert_eq!(set.texts("set-cookie")[0], "S=new; Path=/", "the application's line is left as it is");
        let later = respond(vm.request(request()).unwrap(), uncacheable());
        assert_eq!(
            pinned(&later).as_deref(),
            Some(version),
            "a session without a pin gets one, whoever saw it begin"
        );
    }
}

#[test]
fn no_response_without_a_session_carries_a_pin() {
    let vm = worker(&standard());
    let id = sign(&Seal::id(WHO, NOW));
    for cookie in [format!("__Host-canary-id={id}"), "lang=de".to_owned()] {
        let request = RequestHead::get("/").navigation().header("cookie", cookie);
        assert_eq!(pinned(&respond(vm.request(request).unwrap(), uncacheable())), None);
    }
}

#[test]
fn a_logout_ends_the_pin() {
    let vm = worker(&standard());
    let request = RequestHead::get("/").header("cookie", format!("S=x; __Host-pin={}", pin("v2", 2)));
    let headers = respond(vm.request(request).unwrap(), uncacheable().header("set-cookie", "S=; Max-Age=0"));
    let ended = set_cookie(&headers, "__Host-pin").unwrap();
    let fields: Vec<&str> = ended.split('.').skip(2).take(4).collect();
    assert_eq!(fields, ["v2", "2", &WHO.to_string(), "0"], "issued in 1970: past any age");
}

#[test]
fn a_minted_id_is_set_and_brings_the_user_back() {
    let vm = worker(&standard());
    for _ in 0..20 {
        let mut first = vm.request(RequestHead::get("/").navigation()).unwrap();
        let version = first.headers().text("x-canary-version");
        let headers = first.respond(uncacheable()).unwrap();
        let id = set_cookie(&headers, "__Host-canary-id").unwrap();
        let again = RequestHead::get("/").header("cookie", format!("a=b; __Host-canary-id={id}; S=new"));
        assert_eq!(vm.request(again).unwrap().headers().text("x-canary-version"), version);
    }
}

#[test]
fn two_users_are_drawn_differently_and_so_are_two_workers() {
    let ids: Vec<String> = (1..=3)
        .flat_map(|seed| {
            let options = VmOptions { randomness: Randomness::Seeded(seed), ..VmOptions::default() };
            let vm = worker_in(&Proxy::new(), options, &standard());
            [(); 2].map(|()| {
                let exchange = vm.request(RequestHead::get("/").navigation()).unwrap();
                set_cookie(&respond(exchange, uncacheable()), "__Host-canary-id").unwrap()
            })
        })
        .collect();
    assert!(ids.iter().enumerate().all(|(index, id)| !ids[..index].contains(id)), "{ids:?}");
}

#[test]
fn without_randomness_a_browser_gets_stable_and_nothing_is_set() {
    let options = VmOptions { randomness: Randomness::Unavailable, ..VmOptions::default() };
    let vm = worker_in(&Proxy::new(), options, &with("weight", json!(10_000)));
    let exchange = vm.request(RequestHead::get("/").navigation()).unwrap();
    assert_eq!(exchange.headers().text("x-canary-version").as_deref(), Some("shop/web/v1"));
    assert_eq!(respond(exchange, uncacheable()).all("set-cookie").count(), 0);
    assert_eq!(count(&vm, "v1/stable/fallback"), 1);
}

#[test]
fn a_token_is_hidden_from_the_application_and_becomes_a_cookie() {
    let token = json!({"mode": "token", "token": {"cookie": {"name": "__Host-token"}, "query": "t"}});
    let vm = worker(&with("override", token));
    let text = sign(&Seal::token(b"v2", 2, WHO, NOW, NOW + 60));
    let request = RequestHead::get(&format!("/a?x=1&t={text}")).header("x-canary-token", "forged");
    let request =
        request.header("cookie", "A=1").header("cookie", "__Host-token=forged; B=2").header("cookie", "C=3");
    let exchange = vm.request(request).unwrap();
    let headers = exchange.headers();
    assert_eq!(headers.text(":path").as_deref(), Some("/a?x=1"));
    assert_eq!(headers.texts("cookie"), ["A=1", "B=2", "C=3"]);
    assert_eq!(headers.get("x-canary-token"), None);
    let headers = respond(exchange, ResponseHead::status(200));
    assert_eq!(set_cookie(&headers, "__Host-token"), Some(text));
    assert_eq!(headers.text("referrer-policy").as_deref(), Some("no-referrer"));
    assert_eq!(headers.text("cache-control").as_deref(), Some("private"));
}

#[test]
fn cacheable_responses_take_no_id_and_guard_makes_the_canarys_private() {
    let public = || ResponseHead::status(200).header("cache-control", "public, max-age=60");
    let vm = worker(&standard());
    let minted = vm.request(RequestHead::get("/").navigation()).unwrap();
    assert_eq!(respond(minted, public()).all("set-cookie").count(), 0);
    let guard = worker(&with("cacheControl", json!("private")));
    let canary = RequestHead::get("/").header("cookie", format!("S={}", session_on(true)));
    let headers = respond(guard.request(canary).unwrap(), public());
    assert_eq!(headers.text("cache-control").as_deref(), Some("private, max-age=60"));
}

#[test]
fn filter_state_and_debug_header_say_what_was_decided_where_asked() {
    let request = || RequestHead::get("/").header("cookie", format!("__Host-pin={}", pin("v2", 2)));
    let silent = worker(&standard()).request(request()).unwrap();
    assert_eq!(silent.filter_state("canary"), None);
    let mut config = standard();
    config["filterState"] = json!(true);
    config["debugHeader"] = json!("x-debug");
    let vm = worker(&config);
    let exchange = vm.request(request()).unwrap();
    assert_eq!(exchange.filter_state("canary").as_deref(), Some(&b"shop/web/v2;pin"[..]));
    let said = respond(exchange, uncacheable()).text("x-debug").unwrap();
    assert!(said.starts_with("release=shop/web; version=v2; role=canary; reason=pin"), "{said}");
}
