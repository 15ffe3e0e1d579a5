//! Session and pin are set by the same response: opened, rotated, ended, adopted.

use crate::fixture::{NOW, Proxy, WHO, get, identity_on, is, key_on, page};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::{Value, json};

#[test]
fn the_pin_is_written_in_the_response_that_sets_the_session_cookie() {
    let proxy = Proxy::session();
    let mut first = Proxy::session();
    first.context.draws(identity_on(true).as_u64());
    let sent = first.send(&page("/"));
    let response = sent.respond(&[("set-cookie", "A=1"), ("set-cookie", "S=new; Path=/; HttpOnly")]);
    assert_eq!(sent.session_pin_in(&response), Some(("v2".to_owned(), 2, identity_on(true), NOW)));
    assert_eq!(sent.pin_in(&response), None, "the session cookie reaches every page");
    let again = proxy.send(&get("/").cookie("S", &key_on(true)));
    assert_eq!(again.pin_in(&again.respond(&[("set-cookie", "A=1")])), None, "another cookie is no session");
}

#[test]
fn the_pin_names_the_version_that_answered() {
    for (canary, version, epoch) in [(true, "v2", 2), (false, "v1", 1)] {
        let proxy = Proxy::session();
        let sent = proxy.send(&get("/").cookie("S", &key_on(canary)));
        let pin = sent.pin_in(&sent.respond(&[("set-cookie", "S=new")])).unwrap();
        assert_eq!((pin.0.as_str(), pin.1), (version, epoch));
    }
}

#[test]
fn parallel_first_requests_each_pin_the_version_that_answered_them() {
    let mut proxy = Proxy::session();
    for canary in [true, false, true] {
        proxy.context.draws(identity_on(canary).as_u64());
        let sent = proxy.send(&page("/"));
        let answered_by = sent.headers.get("x-canary-version").unwrap();
        let pin = sent.pin_in(&sent.respond(&[("set-cookie", "S=new")])).unwrap();
        assert_eq!(answered_by, format!("shop/web/{}", pin.0), "whichever session wins, its pin is its own");
    }
}

#[test]
fn a_session_cookie_is_pinned_also_on_a_cacheable_response() {
    let proxy = Proxy::session();
    let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
    let response = sent.respond(&[("set-cookie", "S=new"), ("cache-control", "public, max-age=60")]);
    assert_eq!(sent.pin_in(&response).unwrap().0, "v2", "the application has set a cookie there already");
    assert_eq!(response.all("set-cookie")[0], "S=new", "the application's own line is left as it is");
}

#[test]
fn a_login_changes_neither_version_nor_identity_nor_pod_key() {
    let proxy = Proxy::session().with("sessionAffinity", json!("identity"));
    let visit = get("/login").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW - 60));
    let sent = proxy.send(&visit);
    let response = sent.respond(&[("set-cookie", &format!("S={}", key_on(false)))]);
    assert_eq!(sent.session_pin_in(&response), Some(("v2".to_owned(), 2, WHO, NOW)));
    assert_eq!(sent.headers.get("x-canary-id"), Some(WHO.to_string()));
}

#[test]
fn a_logout_ends_the_pin() {
    let proxy = Proxy::session().with("weight", json!(0));
    let visit = get("/logout").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    for line in ["S=; Max-Age=0", "S=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "S=", "S=deleted; max-age=-1"]
    {
        let sent = proxy.send(&visit);
        let response = sent.respond(&[("set-cookie", line)]);
        assert_eq!(sent.pin_in(&response), Some(("v2".to_owned(), 2, WHO, 0)), "{line}");
        let ended = response.set_cookie("__Host-pin").unwrap();
        let next = proxy.got(&page("/").cookie("__Host-pin", &ended));
        assert_eq!(next, is("v1", "minted"), "without a session the user is decided anew");
    }
}

/// Servlet containers set one session cookie for each context: `JSESSIONID` of `/` and of `/shop`.
#[test]
fn a_logout_in_one_context_moves_no_session_of_another() {
    for (version, epoch, weight) in [("v2", 2, 0), ("v1", 1, 10_000)] {
        let proxy = Proxy::session().with("adopt", json!("v1")).with("weight", json!(weight));
        let pin = proxy.pin(version, epoch, NOW - 60);
        let visit =
            get("/shop/logout").cookie("S", "of /shop").cookie("S", "of /").cookie("__Host-pin", &pin);
        let left = proxy.send(&visit).respond(&[("set-cookie", "S=; Path=/shop; Max-Age=0")]);
        let ended = left.set_cookie("__Host-pin").unwrap();
        let visit = get("/").cookie("S", "of /").cookie("__Host-pin", &ended);
        assert_eq!(proxy.got(&visit), is(version, "pin"));
        let sent = proxy.send(&visit);
        let renewed = sent.pin_in(&sent.respond(&[("cache-control", "no-store")]));
        assert_eq!(renewed, Some((version.to_owned(), epoch, WHO, NOW)));
    }
}

#[test]
fn a_logout_leaves_the_pin_of_a_version_without_pods_as_it_is() {
    let mut proxy = Proxy::session();
    proxy.context.down = vec![1];
    let visit = get("/logout").cookie("S", "mine").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&visit), is("v1", "unavailable"));
    assert_eq!(proxy.send(&visit).respond(&[("set-cookie", "S=; Max-Age=0")]).set_cookie("__Host-pin"), None);
}

#[test]
fn a_session_that_is_replaced_in_one_response_keeps_a_pin() {
    let proxy = Proxy::session();
    let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
    let response = sent.respond(&[("set-cookie", "S=; Max-Age=0"), ("set-cookie", "S=new")]);
    assert_eq!(sent.pin_in(&response).unwrap().0, "v2", "browsers carry the lines out in order");
}

#[test]
fn an_adopted_session_is_pinned_at_once() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let sent = proxy.send(&get("/").cookie("S", "old-session"));
    let response = sent.respond(&[("cache-control", "no-store")]);
    assert_eq!(sent.pin_in(&response), Some(("v1".to_owned(), 1, Identity::of_key(b"old-session"), NOW)));
}

#[test]
fn adoption_after_a_promotion_still_means_the_version_of_back_then() {
    let roles = json!([
        {"name": "v1", "role": "draining", "epoch": 1}, {"name": "v2", "role": "stable", "epoch": 2},
        {"name": "v3", "role": "canary", "epoch": 3},
    ]);
    let proxy = Proxy::session().with("adopt", json!("v1")).with("versions", roles);
    assert_eq!(proxy.got(&get("/").cookie("S", "old-session")), is("v1", "adopted"));
}

/// A session that was silent all the time has ended; a cookie without a pin is one of an application outside the release.
#[test]
fn after_the_end_of_adoption_a_session_without_a_pin_is_decided_by_its_key_and_pinned() {
    let proxy = Proxy::session().with("adopt", json!("v1")).with("adoptUntilSeconds", json!(NOW + 10));
    let visit = get("/").cookie("S", &key_on(true));
    assert_eq!(proxy.got(&visit), is("v1", "adopted"));
    let later = proxy.at(NOW + 10);
    assert_eq!(later.got(&visit), is("v2", "hash"));
    let sent = later.send(&visit);
    let pin = sent.pin_in(&sent.respond(&[("cache-control", "no-store")]));
    assert_eq!(pin.map(|pin| pin.0).as_deref(), Some("v2"));
}

#[test]
fn adoption_of_a_version_that_is_gone_is_stable() {
    let proxy = Proxy::session().with("adopt", json!("v0"));
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v1", "adopted"));
}

#[test]
fn who_has_a_minted_id_is_not_older_than_the_filter() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    assert_eq!(proxy.got(&get("/").cookie("S", "new").cookie("__Host-canary-id", &id)), is("v2", "hash"));
}

#[test]
fn users_of_a_release_without_pins_are_not_adopted() {
    let proxy = Proxy::user().with("adopt", json!("v1"));
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v2", "hash"));
}

#[test]
fn a_release_without_a_session_cookie_pins_with_the_decision() {
    let proxy = Proxy::session().with("sessionCookie", Value::Null).with("identifyBy", json!([]));
    let sent = proxy.send(&page("/"));
    let response = sent.respond(&[]);
    let identity = sent.id_in(&response).unwrap();
    assert_eq!(sent.pin_in(&response).map(|pin| pin.2), Some(identity), "with the minted id");
}

#[test]
fn a_session_opened_without_a_key_before_it_is_pinned_under_one_identity() {
    let proxy = Proxy::session();
    let sent = proxy.send(&get("/api/login"));
    assert_eq!(proxy.got(&get("/api/login")), is("v1", "fallback"));
    let response = sent.respond(&[("set-cookie", "S=new")]);
    let identity = sent.state.as_ref().unwrap().decision.identity;
    assert_eq!(sent.pin_in(&response).map(|pin| (pin.0, Some(pin.2))), Some(("v1".to_owned(), identity)));
}

#[test]
fn stickiness_user_writes_no_pin() {
    let proxy = Proxy::user();
    let line = format!("S={}", key_on(true));
    let response = proxy.send(&get("/").cookie("S", &key_on(true))).respond(&[("set-cookie", &line)]);
    assert_eq!(response.all("set-cookie"), [line]);
}

#[test]
fn a_session_that_another_release_saw_begin_is_pinned_before_a_weight_can_move_it() {
    let proxy = Proxy::session();
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    let sent = proxy.send(&page("/").cookie("S", "opened elsewhere").cookie("__Host-canary-id", &id));
    let pin = sent.pin_in(&sent.respond(&[])).map(|(version, epoch, identity, _)| (version, epoch, identity));
    assert_eq!(pin, Some(("v2".to_owned(), 2, identity_on(true))));
}

#[test]
fn an_id_from_before_the_release_does_not_keep_a_session_from_being_adopted() {
    let proxy = Proxy::session().with("adopt", json!("v1")).with("installedAtSeconds", json!(NOW - 10));
    let with_id_of = |issued: u64| {
        let id = proxy.sign(&Seal::id(identity_on(true), issued));
        proxy.got(&page("/").cookie("S", "old").cookie("__Host-canary-id", &id))
    };
    assert_eq!(with_id_of(NOW - 11), is("v1", "adopted"));
    assert_eq!(with_id_of(NOW - 10), is("v2", "hash"), "the session began under this release");
}
