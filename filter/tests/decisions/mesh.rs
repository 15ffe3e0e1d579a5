//! Inside the mesh: identity and cohort are trusted, the routing header is computed again, no cookie is set.

use crate::fixture::{NOW, Proxy, get, identity_on, is, page};
use serde_json::{Value, json};

#[test]
fn identity_and_cohort_pass_as_they_came() {
    let visit = get("/")
        .header("x-canary-id", identity_on(true).to_string())
        .header("x-canary-cohort", "spring=canary");
    let proxy = Proxy::mesh();
    let sent = proxy.send(&visit);
    assert_eq!(sent.headers.get("x-canary-id"), Some(identity_on(true).to_string()));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("spring=canary"));
}

#[test]
fn the_routing_header_of_the_previous_hop_is_overwritten() {
    let visit =
        get("/").header("x-canary-cohort", "autumn=canary").header("x-canary-version", "shop/front/v7");
    assert_eq!(Proxy::mesh().send(&visit).headers.get("x-canary-version").as_deref(), Some("shop/web/v2"));
}

#[test]
fn nothing_is_minted_or_pinned() {
    let pin = json!({"cookie": {"name": "__Host-pin"}});
    let proxy =
        Proxy::mesh().with("mint", json!("always")).with("stickiness", json!("session")).with("pin", pin);
    assert_eq!(proxy.got(&page("/")), is("v1", "fallback"));
    let sent = proxy.send(&page("/").header("x-canary-id", identity_on(true).to_string()));
    let response = sent.respond(&[("set-cookie", "S=new"), ("cache-control", "no-store")]);
    assert_eq!(response.all("set-cookie"), ["S=new"]);
    let logout = sent.respond(&[("set-cookie", "S=; Max-Age=0")]);
    assert_eq!(logout.all("set-cookie"), ["S=; Max-Age=0"], "the edge ends the pin");
    let pinned = get("/").cookie("S", "mine").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    let logout = proxy.send(&pinned).respond(&[("set-cookie", "S=; Max-Age=0")]);
    assert_eq!(logout.all("set-cookie"), ["S=; Max-Age=0"], "the edge ends a pin that came along");
}

#[test]
fn a_cohort_header_does_not_count_at_the_edge() {
    let proxy = Proxy::user().with("train", json!("autumn")).with("weight", json!(0));
    assert_eq!(proxy.got(&get("/").header("x-canary-cohort", "autumn=canary")), is("v1", "fallback"));
}

#[test]
fn a_release_without_a_train_goes_by_identity() {
    let proxy = Proxy::mesh().with("train", Value::Null);
    let visit = get("/")
        .header("x-canary-cohort", "autumn=stable")
        .header("x-canary-id", identity_on(true).to_string());
    assert_eq!(proxy.got(&visit), is("v2", "hash"));
}

#[test]
fn two_hops_of_a_train_agree_whatever_their_salts() {
    let edge = Proxy::session().with("train", json!("autumn"));
    let mesh = Proxy::mesh().with("salt", json!("another"));
    for number in 0..200 {
        let forwarded = edge.send(&get("/").cookie("S", &number.to_string()));
        let (id, cohort) = (
            forwarded.headers.get("x-canary-id").unwrap(),
            forwarded.headers.get("x-canary-cohort").unwrap(),
        );
        let inner = mesh.got(&get("/").header("x-canary-id", id).header("x-canary-cohort", cohort));
        assert_eq!(inner, is(&edge.got(&get("/").cookie("S", &number.to_string())).0, "cohort"));
    }
}

#[test]
fn a_cohort_of_a_canary_that_has_ended_here_goes_by_key() {
    let proxy = Proxy::mesh().with("until", json!({"atSeconds": NOW, "action": "rollback"}));
    let visit = get("/")
        .header("x-canary-cohort", "autumn=canary")
        .header("x-canary-id", identity_on(true).to_string());
    assert_eq!(proxy.got(&visit), is("v1", "hash"));
}

#[test]
fn a_dead_canary_is_left_inside_the_mesh_too() {
    let mut proxy = Proxy::mesh();
    proxy.context.down = vec![1];
    assert_eq!(proxy.got(&get("/").header("x-canary-cohort", "autumn=canary")), is("v1", "unavailable"));
}
