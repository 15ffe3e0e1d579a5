//! A pin: its content, how long it is valid, and how pins of removed or unknown versions are handled.

use crate::fixture::{NOW, Proxy, WHO, get, is, key_on};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::json;

const DAY: u64 = 24 * 3600;

/// `javax.servlet`'s version 1 cookies and Python's `http.cookies` put quotes around some values.
#[test]
fn a_pin_in_quotes_holds() {
    let proxy = Proxy::session().with("weight", json!(0));
    let pin = format!("\"{}\"", proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&get("/").cookie("S", "mine").cookie("__Host-pin", &pin)), is("v2", "pin"));
}

#[test]
fn a_pin_of_an_old_epoch_is_ignored_and_replaced() {
    let proxy = Proxy::session();
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 1, NOW - 9));
    assert_eq!(proxy.got(&visit), is("v1", "hash"), "the label came again, its old pins do not count");
    let sent = proxy.send(&visit);
    let response = sent.respond(&[("cache-control", "no-store")]);
    assert_eq!(
        sent.pin_in(&response),
        Some(("v1".to_owned(), 1, Identity::of_key(key_on(false).as_bytes()), NOW))
    );
}

#[test]
fn a_pin_of_a_version_listed_as_gone_is_decided_anew_and_replaced() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let visit = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin("v0", 9, NOW));
    assert_eq!(proxy.got(&visit), is("v2", "hash"), "not adopted: it had a pin");
    let sent = proxy.send(&visit);
    assert_eq!(sent.pin_in(&sent.respond(&[("cache-control", "no-store")])).unwrap().0, "v2");
}

#[test]
fn a_genuine_pin_of_a_version_that_this_proxy_does_not_know_is_stable_and_not_overwritten() {
    let proxy = Proxy::session();
    for (version, epoch) in [("v3", 1), ("v0", 10), ("v2", 3)] {
        let visit = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin(version, epoch, NOW));
        assert_eq!(proxy.got(&visit), is("v1", "unknown"), "{version} {epoch}");
        let sent = proxy.send(&visit);
        for response in [[("set-cookie", "S=new")], [("cache-control", "no-store")]] {
            assert_eq!(sent.pin_in(&sent.respond(&response)), None, "{version} {epoch}: a gateway may lag");
        }
    }
}

#[test]
fn an_unsigned_pin_does_not_count() {
    let proxy = Proxy::session();
    let pin = proxy.pin("v2", 2, NOW);
    let other_release = proxy.policy().ring.sign("u2", &Seal::pin(b"v2", 2, WHO, NOW)).unwrap();
    let token = proxy.sign(&Seal::token(b"v2", 2, WHO, NOW, NOW + 9));
    let edited = proxy.pin("v1", 1, NOW).replacen(".v1.1.", ".v2.2.", 1);
    for forged in [&other_release, &token, &edited, &pin[..pin.len() - 1], "p1.k1.v2.2", "", "v2"] {
        let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", forged);
        assert_eq!(proxy.got(&visit), is("v1", "hash"), "{forged}");
    }
}

#[test]
fn a_pin_is_honoured_without_the_session_cookie_too() {
    let proxy = Proxy::session();
    let visit = get("/style.css").cookie("__Host-pin", &proxy.pin("v2", 2, NOW - DAY + 60));
    assert_eq!(proxy.got(&visit), is("v2", "pin"));
}

#[test]
fn an_aged_pin_is_renewed_with_the_session_cookie_and_decided_anew_without() {
    let proxy = Proxy::session();
    let aged = proxy.pin("v2", 2, NOW - DAY - 1);
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &aged);
    assert_eq!(proxy.got(&visit), is("v2", "pin"), "a live session never moves");
    let sent = proxy.send(&visit);
    let response = sent.respond(&[("cache-control", "no-store")]);
    assert_eq!(sent.pin_in(&response), Some(("v2".to_owned(), 2, WHO, NOW)), "renewed");
    let without = get("/").cookie("__Host-pin", &aged);
    assert_eq!(proxy.got(&without), is("v1", "fallback"));
}

#[test]
fn a_young_pin_is_not_written_again() {
    let proxy = Proxy::session().with("pin", json!({"cookie": {"name": "__Host-pin"}, "idleSeconds": 600}));
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW - 300));
    let response = proxy.send(&visit).respond(&[("cache-control", "no-store")]);
    assert_eq!(response.set_cookie("__Host-pin"), None);
}

#[test]
fn an_idle_pin_is_refreshed_past_half_its_life() {
    let proxy = Proxy::session().with("pin", json!({"cookie": {"name": "__Host-pin"}, "idleSeconds": 600}));
    let pin = proxy.pin("v2", 2, NOW - 301);
    let with_session = proxy.send(&get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &pin));
    let response = with_session.respond(&[("cache-control", "no-store")]);
    assert_eq!(with_session.pin_in(&response), Some(("v2".to_owned(), 2, WHO, NOW)));
    let line = response.set_cookie_line("__Host-pin").unwrap();
    assert!(line.ends_with("; Max-Age=600"), "{line}");
    let without = proxy.send(&get("/").cookie("__Host-pin", &pin));
    let response = without.respond(&[("cache-control", "no-store")]);
    let issued = without.pin_in(&response).unwrap().3;
    assert_eq!(
        issued,
        NOW - 301,
        "only a session makes a pin younger, so that the absolute age still ends it"
    );
}

#[test]
fn a_pin_is_a_browser_session_cookie_unless_it_may_idle() {
    let sent_by = Proxy::session();
    let sent = sent_by.send(&get("/").cookie("S", &key_on(true)));
    let line = sent.respond(&[("set-cookie", "S=new")]).set_cookie_line("__Host-pin").unwrap();
    let attributes = line.split_once("; ").unwrap().1;
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Lax; Secure");
}

#[test]
fn a_pin_with_a_domain_is_written_and_deleted_under_it() {
    let proxy = Proxy::session().with("pin", json!({"cookie": {"name": "pin", "domain": "shop.example"}}));
    let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
    for (line, expected) in [
        ("S=new", "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=shop.example"),
        ("S=; Max-Age=0", "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=shop.example; Max-Age=0"),
    ] {
        let written = sent.respond(&[("set-cookie", line)]).set_cookie_line("pin").unwrap();
        assert_eq!(written.split_once("; ").unwrap().1, expected, "{line}");
    }
}

#[test]
fn a_clock_that_is_behind_makes_no_pin_old() {
    let proxy = Proxy::session().at(NOW - 100);
    let visit = get("/").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&visit), is("v2", "pin"));
}

/// A clock that was wrong moves no session, and its pin does not stay young.
#[test]
fn a_pin_from_the_future_is_renewed_with_the_session_cookie_and_decided_anew_without() {
    let proxy = Proxy::session();
    for (ahead, renewed, without) in [(300, None, is("v2", "pin")), (301, Some(NOW), is("v1", "fallback"))] {
        let pin = proxy.pin("v2", 2, NOW + ahead);
        let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &pin);
        assert_eq!(proxy.got(&visit), is("v2", "pin"), "{ahead} s ahead");
        let sent = proxy.send(&visit);
        let response = sent.respond(&[("cache-control", "no-store")]);
        assert_eq!(sent.pin_in(&response).map(|pin| pin.3), renewed, "{ahead} s ahead");
        assert_eq!(proxy.got(&get("/").cookie("__Host-pin", &pin)), without, "{ahead} s ahead");
    }
}
