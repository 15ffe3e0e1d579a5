//! For which requests an id is minted, when, and how it is set.

use crate::fixture::{NOW, Proxy, Visit, get, identity_on, is, page};
use serde_json::json;

fn is_minted(proxy: &Proxy, visit: &Visit) -> bool {
    proxy.got(visit).1 == "minted"
}

#[test]
fn only_a_navigation_mints_by_default() {
    let proxy = Proxy::session();
    let accepting = |accept: &str| get("/").header("accept", accept);
    for visit in [
        page("/"),
        get("/").header("sec-fetch-mode", "navigate"),
        accepting("text/html,application/xml;q=0.9"),
    ] {
        assert!(is_minted(&proxy, &visit), "{visit:?}");
    }
    let script = accepting("text/html").header("sec-fetch-mode", "cors");
    let no_mode = accepting("text/html").header("sec-fetch-site", "same-origin");
    for visit in [get("/"), accepting("*/*"), accepting("application/json"), script, no_mode] {
        assert!(!is_minted(&proxy, &visit), "{visit:?}");
    }
}

#[test]
fn mint_always_and_never_do_as_they_say() {
    let always = Proxy::session().with("mint", json!("always"));
    assert_eq!(always.got(&get("/")).1, "minted");
    let never = Proxy::session().with("mint", json!("never"));
    assert_ne!(never.got(&page("/")).1, "minted");
}

#[test]
fn clients_that_keep_no_cookies_are_given_none() {
    let proxy = Proxy::session().with("mint", json!("always"));
    let grpc = page("/").header("content-type", "application/grpc+proto");
    let bearer = page("/").header("authorization", "bEaReR abc");
    for visit in [page("/").instead(":method", "OPTIONS"), grpc, bearer] {
        assert_eq!(proxy.got(&visit), is("v1", "fallback"), "{visit:?}");
        let response = proxy.send(&visit).respond(&[]);
        assert!(response.all("set-cookie").is_empty(), "{visit:?}");
    }
    assert!(is_minted(&proxy, &page("/").header("authorization", "Basic abc")), "browsers send that");
}

#[test]
fn the_id_that_decided_is_the_id_that_is_set() {
    let mut proxy = Proxy::user();
    proxy.context.draws(identity_on(true).as_u64());
    let sent = proxy.send(&page("/"));
    let response = sent.respond(&[]);
    assert_eq!(sent.id_in(&response), Some(identity_on(true)));
    let line = response.set_cookie_line("__Host-canary-id").unwrap();
    assert!(line.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=7776000"), "{line}");
}

#[test]
fn the_next_request_with_the_id_gets_the_same_version() {
    let mut proxy = Proxy::user();
    for number in 0..50_u64 {
        let bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        proxy.context.draws(bits);
        let first = proxy.got(&page("/")).0;
        proxy.context.draws(bits);
        let id = proxy.send(&page("/")).respond(&[]).set_cookie("__Host-canary-id").unwrap();
        assert_eq!(
            proxy.got(&page("/").cookie("__Host-canary-id", &id).cookie("S", "new")),
            is(&first, "hash")
        );
    }
}

#[test]
fn without_randomness_nothing_is_minted() {
    let mut proxy = Proxy::session().with("weight", json!(10_000));
    proxy.context.random = None;
    assert_eq!(proxy.got(&page("/")), is("v1", "fallback"));
    let response = proxy.send(&page("/")).respond(&[]);
    assert_eq!(response.set_cookie("__Host-canary-id"), None);
}

#[test]
fn a_client_that_returns_no_cookies_and_does_not_navigate_sees_one_version_for_ever() {
    let proxy = Proxy::session().with("weight", json!(9_999));
    for _ in 0..1_000 {
        assert_eq!(proxy.got(&get("/api")), is("v1", "fallback"));
    }
}

#[test]
fn nothing_that_the_client_sends_decides_what_is_drawn() {
    let mut proxy = Proxy::user();
    let mut drawn = |visit: &Visit| {
        proxy.context.draws(7);
        proxy.send(visit).state.unwrap().decision.identity
    };
    let plain = drawn(&page("/"));
    let loud = page("/x?y")
        .header("x-request-id", "1")
        .header("x-canary-id", "0000000000000001")
        .header("date", "now");
    assert_eq!(drawn(&loud), plain);
}

#[test]
fn a_minted_session_is_pinned_when_its_session_opens_and_not_before() {
    let proxy = Proxy::session();
    let sent = proxy.send(&page("/"));
    let response = sent.respond(&[]);
    assert!(sent.id_in(&response).is_some(), "{:?}", response.all("set-cookie"));
    assert_eq!(sent.pin_in(&response), None);
    let response = sent.respond(&[("set-cookie", "S=new")]);
    assert_eq!(sent.pin_in(&response).map(|pin| (pin.2, pin.3)), sent.id_in(&response).map(|id| (id, NOW)));
}
