//! The three modes of overriding, and what an overridden request leaves behind: nothing.

use crate::fixture::{NOW, Proxy, WHO, get, is, key_on, page};
use assignment::seal::Seal;
use canary_filter::labels;
use serde_json::json;

fn with_mode(mode: &str) -> Proxy {
    let token = json!({"cookie": {"name": "__Host-token"}, "query": "canary-token"});
    Proxy::session().with("override", json!({"mode": mode, "token": token}))
}

fn token(proxy: &Proxy) -> String {
    proxy.sign(&Seal::token(b"v2", 2, WHO, NOW - 60, NOW + 60))
}

#[test]
fn off_means_that_neither_header_nor_token_counts() {
    let proxy = with_mode("off");
    let visit = get("/").header("x-canary-override", "canary").header("x-canary-token", token(&proxy));
    assert_eq!(proxy.got(&visit.cookie("S", &key_on(false))), is("v1", "hash"));
}

#[test]
fn a_token_release_does_not_believe_the_open_header() {
    let visit = get("/").header("x-canary-override", "canary").cookie("S", &key_on(false));
    assert_eq!(with_mode("token").got(&visit), is("v1", "hash"));
}

#[test]
fn an_open_release_does_not_read_tokens() {
    let proxy = with_mode("open");
    let visit = get("/").header("x-canary-token", token(&proxy)).cookie("S", &key_on(false));
    assert_eq!(proxy.got(&visit), is("v1", "hash"));
}

#[test]
fn weight_0_with_an_override_is_a_canary_that_only_testers_reach() {
    let proxy = with_mode("token").with("weight", json!(0));
    for number in 0..100 {
        assert_eq!(proxy.got(&get("/").cookie("S", &number.to_string())), is("v1", "hash"));
    }
    assert_eq!(proxy.got(&get("/").header("x-canary-token", token(&proxy))), is("v2", "override"));
}

#[test]
fn an_overridden_visit_leaves_no_pin_and_no_id() {
    let proxy = with_mode("token");
    let sent = proxy.send(&page("/").header("x-canary-token", token(&proxy)));
    let response = sent.respond(&[("set-cookie", "S=new")]);
    assert_eq!(response.all("set-cookie"), ["S=new"]);
}

#[test]
fn an_overridden_visit_does_not_touch_the_pin_that_is_there() {
    let proxy = with_mode("token");
    let pin = proxy.pin("v1", 1, NOW - 25 * 3600);
    let visit = page("/").header("x-canary-token", token(&proxy)).cookie("S", "x").cookie("__Host-pin", &pin);
    let response = proxy.send(&visit).respond(&[("cache-control", "no-store")]);
    assert_eq!(response.set_cookie("__Host-pin"), None);
}

#[test]
fn overridden_traffic_is_counted_apart() {
    let proxy = with_mode("token");
    let sent = proxy.send(&get("/").header("x-canary-token", token(&proxy)));
    let decision = &sent.state.as_ref().unwrap().decision;
    let release = &sent.policy.releases()[0];
    let version = &release.versions[decision.version];
    let class = sent.outcome(&[]).1.class;
    assert_eq!(
        labels::responses(release, version, decision.reason == assignment::Reason::Override, class),
        "canary_responses.component.shop/web.tag.v2/override/2xx;.total"
    );
    assert_eq!(
        labels::requests(release, version, decision.reason),
        "canary_requests.component.shop/web.tag.v2/canary/override;.total"
    );
}

#[test]
fn the_cohort_says_that_a_tester_asked() {
    let proxy = with_mode("open").with("train", json!("autumn"));
    let sent = proxy.send(&get("/").header("x-canary-override", "canary"));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("autumn=canary;override"));
    let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("autumn=canary"));
}
