//! Several cookies of one name: equal ones are one, different ones are none.

use crate::fixture::{NOW, Proxy, WHO, get, identity_on, is, key_on, page};
use assignment::seal::Seal;
use serde_json::json;

#[test]
fn two_pins_with_different_content_are_none() {
    let proxy = Proxy::session();
    let (one, other) = (proxy.pin("v2", 2, NOW), proxy.pin("v1", 1, NOW));
    for lines in [[&one, &other], [&other, &one]] {
        let visit =
            get("/").cookie("S", &key_on(true)).cookie("__Host-pin", lines[0]).cookie("__Host-pin", lines[1]);
        assert_eq!(proxy.got(&visit), is("v1", "conflict"));
    }
}

#[test]
fn pins_that_differ_in_the_user_only_are_in_conflict_too() {
    let proxy = Proxy::session();
    let other = proxy.sign(&Seal::pin(b"v2", 2, identity_on(true), NOW));
    let visit = get("/").cookie("__Host-pin", &proxy.pin("v2", 2, NOW)).cookie("__Host-pin", &other);
    assert_eq!(proxy.got(&visit), is("v1", "conflict"));
}

#[test]
fn pins_that_differ_in_their_age_only_agree() {
    let proxy = Proxy::session();
    let line = format!("__Host-pin={}; __Host-pin={}", proxy.pin("v2", 2, NOW), proxy.pin("v2", 2, NOW - 9));
    assert_eq!(proxy.got(&get("/").header("cookie", line)), is("v2", "pin"));
}

#[test]
fn a_forged_pin_beside_a_genuine_one_is_no_conflict() {
    let proxy = Proxy::session();
    let genuine = proxy.pin("v2", 2, NOW);
    let visit = get("/").cookie("__Host-pin", "p1.k1.v1.1.x").cookie("__Host-pin", &genuine);
    assert_eq!(proxy.got(&visit), is("v2", "pin"));
}

#[test]
fn a_conflict_is_settled_by_the_next_session_cookie() {
    let proxy = Proxy::session();
    let visit = get("/")
        .cookie("__Host-pin", &proxy.pin("v2", 2, NOW))
        .cookie("__Host-pin", &proxy.pin("v1", 1, NOW));
    let sent = proxy.send(&visit);
    let response = sent.respond(&[("set-cookie", "S=new")]);
    assert_eq!(sent.pin_in(&response).map(|(version, ..)| version), Some("v1".to_owned()));
}

#[test]
fn equal_minted_ids_are_one() {
    let proxy = Proxy::user();
    let ids = [NOW, NOW - 9].map(|issued| proxy.sign(&Seal::id(identity_on(true), issued)));
    let visit = get("/").cookie("__Host-canary-id", &ids[0]).cookie("__Host-canary-id", &ids[1]);
    assert_eq!(proxy.got(&visit), is("v2", "hash"));
}

/// Minting again would set a third id beside the two, and move the user with every page.
#[test]
fn minted_ids_that_contradict_each_other_are_stable_and_no_third_is_minted() {
    let proxy = Proxy::user().with("weight", json!(10_000));
    let ids = [WHO, identity_on(true)].map(|identity| proxy.sign(&Seal::id(identity, NOW)));
    let visit = page("/").cookie("__Host-canary-id", &ids[0]).cookie("__Host-canary-id", &ids[1]);
    assert_eq!(proxy.got(&visit), is("v1", "conflict"));
    assert_eq!(proxy.send(&visit).respond(&[]).get("set-cookie"), None);
    assert_eq!(proxy.got(&visit.clone().cookie("S", "x")), is("v1", "conflict"));
    let proxy = proxy.with("identifyBy", json!([{"header": "x-user"}, {"cookie": "S"}]));
    assert_eq!(
        proxy.got(&visit.header("x-user", "ana")),
        is("v2", "hash"),
        "a key before them is not in doubt"
    );
}

#[test]
fn token_cookies_that_contradict_each_other_are_stable() {
    let token = json!({"cookie": {"name": "tok"}, "query": "t"});
    let proxy = Proxy::session().with("override", json!({"mode": "token", "token": token}));
    let cookie = |version: &[u8], epoch| proxy.sign(&Seal::token(version, epoch, WHO, NOW, NOW + 60));
    let (canary, stable) = (cookie(b"v2", 2), cookie(b"v1", 1));
    assert_eq!(proxy.got(&get("/").cookie("tok", &canary).cookie("tok", &canary)), is("v2", "override"));
    assert_eq!(proxy.got(&get("/").cookie("tok", &canary).cookie("tok", &stable)), is("v1", "conflict"));
}
