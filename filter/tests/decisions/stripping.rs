//! At the edge no client names a version, an identity or a cohort, however it spells the header.

use crate::fixture::{Proxy, Visit, get, identity_on, key_on};
use canary_filter::labels;
use serde_json::json;

const FORGED: [(&str, &str); 7] = [
    ("x-canary-version", "shop/web/v2"),
    ("x-canary-id", "0123456789abcdef"),
    ("x-canary-cohort", "autumn=canary"),
    ("x_canary_version", "shop/web/v2"),
    ("x-canary_id", "0123456789abcdef"),
    ("x_canary_cohort", "autumn=canary"),
    ("x-canary_version", "shop/web/v2"),
];

fn forged(mut visit: Visit) -> Visit {
    for (name, value) in FORGED.into_iter().chain(FORGED) {
        visit = visit.header(name, value);
    }
    visit
}

#[test]
fn what_clients_may_not_send_is_removed_where_no_release_matches() {
    let proxy = Proxy::session();
    let visit = forged(get("/")).instead(":authority", "other.example").header("x-other", "kept");
    let sent = proxy.send(&visit);
    for (name, _) in FORGED {
        assert_eq!(sent.headers.all(name), Vec::<String>::new(), "{name}");
    }
    assert_eq!(sent.headers.get("x-other").as_deref(), Some("kept"));
}

#[test]
fn what_clients_may_not_send_is_replaced_by_what_was_decided() {
    let proxy = Proxy::session().with("train", json!("autumn"));
    let sent = proxy.send(&forged(get("/").cookie("S", &key_on(false))));
    assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some("shop/web/v1"));
    assert_eq!(sent.headers.get("x-canary-id"), Some(identity_on(false).to_string()));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("autumn=stable"));
    assert!(FORGED.iter().skip(3).all(|(name, _)| sent.headers.all(name).is_empty()), "{:?}", sent.headers);
}

#[test]
fn a_release_that_propagates_nothing_removes_identity_and_cohort() {
    let proxy = Proxy::session();
    let sent = proxy.send(&forged(get("/").cookie("S", &key_on(false))));
    assert_eq!((sent.headers.get("x-canary-id"), sent.headers.get("x-canary-cohort")), (None, None));
}

#[test]
fn a_version_with_a_routing_value_of_its_own_gets_that_value_and_access_logs_do_not() {
    let value = "shop/web/v2/6f1d";
    let versions = json!([{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 2, "routing": value}]);
    let proxy = Proxy::session().with("versions", versions);
    let sent = proxy.send(&forged(get("/").cookie("S", &key_on(true))));
    assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some(value));
    let decision = &sent.state.as_ref().unwrap().decision;
    let release = sent.policy.release(decision.release).unwrap();
    assert_eq!(labels::filter_state(release, decision), "shop/web/v2;hash");
    let sent = proxy.send(&get("/").cookie("S", &key_on(false)));
    assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some("shop/web/v1"), "without one");
}

#[test]
fn a_forged_routing_header_decides_nothing() {
    let proxy = Proxy::session().with("weight", json!(0));
    for name in ["x-canary-version", "x_canary_version"] {
        let sent = proxy.send(&get("/").header(name, "shop/web/v2").cookie("S", &key_on(true)));
        assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some("shop/web/v1"), "{name}");
    }
}

#[test]
fn a_repeated_header_of_ours_becomes_one() {
    let proxy = Proxy::session();
    let visit = get("/").cookie("S", &key_on(false)).header("x-canary-version", "shop/web/v1");
    let sent = proxy.send(&visit.header("x-canary-version", "shop/web/v2"));
    assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some("shop/web/v1"));
}

#[test]
fn an_inert_proxy_removes_them_too() {
    let proxy = Proxy::session().with_proxy("releases", json!({}));
    let sent = proxy.send(&forged(get("/")));
    assert!(FORGED.iter().all(|(name, _)| sent.headers.all(name).is_empty()), "{:?}", sent.headers);
}

#[test]
fn header_names_are_the_proxys_choice() {
    let names = json!({"routing": "x-r", "identity": "x-i", "cohort": "x-c"});
    let proxy = Proxy::session().with_proxy("headers", names).with("train", json!("autumn"));
    let sent =
        proxy.send(&get("/").cookie("S", &key_on(true)).header("x-r", "forged").header("x_i", "forged"));
    assert_eq!(sent.headers.get("x-r").as_deref(), Some("shop/web/v2"));
    assert_eq!(sent.headers.get("x-i"), Some(identity_on(true).to_string()));
    assert_eq!(sent.headers.get("x-c").as_deref(), Some("autumn=canary"));
    assert_eq!(sent.headers.get("x_i"), None);
}
