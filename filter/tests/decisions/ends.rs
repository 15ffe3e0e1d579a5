//! How a canary ends: by time, by rollback, by promotion, by death of its pods.

use crate::fixture::{NOW, Proxy, get, is, key_on, page};
use canary_filter::labels::StatusClass;
use serde_json::json;

fn until(action: &str, at: u64) -> Proxy {
    Proxy::session().with("until", json!({"atSeconds": at, "action": action}))
}

#[test]
fn until_changes_nothing_before_its_time() {
    for action in ["stop", "rollback"] {
        let proxy = until(action, NOW + 1);
        assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v2", "hash"), "{action}");
    }
}

#[test]
fn past_until_the_release_behaves_as_weight_0() {
    for proxy in [until("stop", NOW), Proxy::session().with("weight", json!(0))] {
        assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v1", "hash"), "no new users");
        assert_eq!(proxy.got(&page("/")).0, "v1");
        let pinned = get("/").cookie("S", "x").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
        assert_eq!(proxy.got(&pinned), is("v2", "pin"), "sessions finish");
    }
}

#[test]
fn past_until_with_rollback_the_canary_is_gone_with_the_next_request() {
    let rolled_back = until("rollback", NOW).with("override", json!({"mode": "open"}));
    let pinned = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &rolled_back.pin("v2", 2, NOW - 9));
    assert_eq!(rolled_back.got(&pinned), is("v1", "hash"));
    let sent = rolled_back.send(&pinned);
    let pin = sent.pin_in(&sent.respond(&[("cache-control", "no-store")]));
    assert_eq!(pin.map(|pin| pin.0), Some("v1".to_owned()), "and the pin is replaced");
    assert_eq!(rolled_back.got(&get("/").header("x-canary-override", "canary")), is("v1", "fallback"));
}

#[test]
fn a_rolled_back_canary_is_gone_for_everyone() {
    let stable_only = json!([{"name": "v1", "role": "stable", "epoch": 1}]);
    let proxy = Proxy::session().with("weight", json!(0)).with("versions", stable_only);
    let proxy = proxy.with("gone", json!([{"name": "v2", "epoch": 2}]));
    let pinned = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&pinned), is("v1", "hash"));
}

#[test]
fn a_draining_version_keeps_its_sessions_and_gets_no_new_ones() {
    let versions =
        json!([{"name": "v2", "role": "stable", "epoch": 2}, {"name": "v1", "role": "draining", "epoch": 1}]);
    let proxy = Proxy::session().with("weight", json!(0)).with("versions", versions).with("gone", json!([]));
    let pinned = get("/").cookie("S", "x").cookie("__Host-pin", &proxy.pin("v1", 1, NOW));
    assert_eq!(proxy.got(&pinned), is("v1", "pin"), "a promotion moves nobody");
    assert_eq!(proxy.send(&pinned).headers.get("x-canary-version").as_deref(), Some("shop/web/v1"));
    for number in 0..100 {
        assert_eq!(proxy.got(&get("/").cookie("S", &number.to_string())), is("v2", "hash"));
    }
}

#[test]
fn a_dead_canary_counts_as_gone_and_its_pins_are_kept() {
    let mut proxy = Proxy::session();
    proxy.context.down = vec![1];
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v1", "unavailable"));
    let pinned = get("/").cookie("S", "x").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&pinned), is("v1", "unavailable"));
    let response = proxy.send(&pinned).respond(&[("cache-control", "no-store")]);
    assert_eq!(response.set_cookie("__Host-pin"), None, "it may be well again");
}

#[test]
fn the_pin_of_a_version_without_pods_is_not_renewed_for_stable() {
    let mut proxy = Proxy::session();
    proxy.context.down = vec![1];
    // Past its age, so that it would be renewed with the session.
    let pin = proxy.pin("v2", 2, NOW - 10 * 24 * 3600);
    let visit = get("/").cookie("S", "mine").cookie("__Host-pin", &pin);
    assert_eq!(proxy.got(&visit), is("v1", "unavailable"));
    let response = proxy.send(&visit).respond(&[("cache-control", "no-store")]);
    assert_eq!(response.set_cookie("__Host-pin"), None, "the version may be well again");
}

#[test]
fn an_unavailable_stable_version_moves_no_user_to_the_canary() {
    let mut proxy = Proxy::session();
    proxy.context.down = vec![0];
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(false))), is("v1", "hash"));
}

#[test]
fn only_a_503_of_a_version_that_is_not_stable_may_mean_that_it_is_dead() {
    let proxy = Proxy::session();
    for (canary, status, dead) in
        [(true, "503", true), (true, "502", false), (true, "200", false), (false, "503", false)]
    {
        let outcome = proxy.send(&get("/").cookie("S", &key_on(canary))).outcome(&[(":status", status)]).1;
        assert_eq!(outcome.may_be_unavailable, dead, "{canary} {status}");
    }
}

#[test]
fn responses_count_by_their_status_class() {
    let proxy = Proxy::session();
    let sent = proxy.send(&get("/"));
    for (status, class) in [
        ("101", StatusClass::Informational),
        ("204", StatusClass::Success),
        ("304", StatusClass::Redirect),
        ("404", StatusClass::ClientError),
        ("500", StatusClass::ServerError),
    ] {
        assert_eq!(sent.outcome(&[(":status", status)]).1.class, class);
    }
}
