//! A pin: what it carries, how long it counts, what becomes of pins of versions that are gone or not yet known.

use crate::fixture::{NOW, Proxy, WHO, get, is, key_on};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::json;

const DAY: u64 = 24 * 3600;

#[test]
fn a_pin_of_an_old_epoch_is_ignored_and_replaced() {
    let proxy = Proxy::session();
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 1, NOW - 9));
    assert_eq!(proxy.got(&visit), is("v1", "hash"), "the label came again, its old pins do not count");
    let sent = proxy.send(&visit);
    let answer = sent.answer(&[("cache-control", "no-store")]);
    assert_eq!(
        sent.pin_in(&answer),
        Some(("v1".to_owned(), 1, Identity::of_key(key_on(false).as_bytes()), NOW))
    );
}

#[test]
fn a_pin_of_a_version_listed_as_gone_is_decided_anew_and_replaced() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let visit = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin("v0", 9, NOW));
    assert_eq!(proxy.got(&visit), is("v2", "hash"), "not adopted: it had a pin");
    let sent = proxy.send(&visit);
    assert_eq!(sent.pin_in(&sent.answer(&[("cache-control", "no-store")])).unwrap().0, "v2");
}

#[test]
fn a_genuine_pin_of_a_version_that_this_proxy_does_not_know_is_stable_and_not_overwritten() {
    let proxy = Proxy::session();
    for (version, epoch) in [("v3", 1), ("v0", 10), ("v2", 3)] {
        let visit = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin(version, epoch, NOW));
        assert_eq!(proxy.got(&visit), is("v1", "unknown"), "{version} {epoch}");
        let sent = proxy.send(&visit);
        for answer in [[("set-cookie", "S=new")], [("cache-control", "no-store")]] {
            assert_eq!(sent.pin_in(&sent.answer(&answer)), None, "{version} {epoch}: a gateway may lag");
        }
    }
}

#[test]
fn a_pin_that_nobody_signed_is_none() {
    let proxy = Proxy::session();
    let pin = proxy.pin("v2", 2, NOW);
    let other_release = proxy.policy().ring.sign("u2", &Seal::pin(b"v2", 2, WHO, NOW)).unwrap();
    let token = proxy.sign(&Seal::token(b"v2", 2, WHO, NOW, NOW + 9));
    let edited = proxy.pin("v1", 1, NOW).replacen("~v1~1~", "~v2~2~", 1);
    for forged in [&other_release, &token, &edited, &pin[..pin.len() - 1], "p1~k1~v2~2", "", "v2"] {
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
    let answer = sent.answer(&[("cache-control", "no-store")]);
    assert_eq!(sent.pin_in(&answer), Some(("v2".to_owned(), 2, WHO, NOW)), "renewed");
    let without = get("/").cookie("__Host-pin", &aged);
    assert_eq!(proxy.got(&without), is("v1", "fallback"));
}

#[test]
fn a_young_pin_is_not_written_again() {
    let proxy = Proxy::session().with("pin", json!({"cookie": {"name": "__Host-pin"}, "idleSeconds": 600}));
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW - 300));
    let answer = proxy.send(&visit).answer(&[("cache-control", "no-store")]);
    assert_eq!(answer.set_cookie("__Host-pin"), None);
}

#[test]
fn an_idle_pin_is_refreshed_past_half_its_life() {
    let proxy = Proxy::session().with("pin", json!({"cookie": {"name": "__Host-pin"}, "idleSeconds": 600}));
    let pin = proxy.pin("v2", 2, NOW - 301);
    let with_session = proxy.send(&get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &pin));
    let answer = with_session.answer(&[("cache-control", "no-store")]);
    assert_eq!(with_session.pin_in(&answer), Some(("v2".to_owned(), 2, WHO, NOW)));
    assert!(answer.set_cookie_line("__Host-pin").unwrap().ends_with("; Max-Age=600"));
    let without = proxy.send(&get("/").cookie("__Host-pin", &pin));
    let answer = without.answer(&[("cache-control", "no-store")]);
    let issued = without.pin_in(&answer).unwrap().3;
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
    let line = sent.answer(&[("set-cookie", "S=new")]).set_cookie_line("__Host-pin").unwrap();
    let attributes = line.split_once("; ").unwrap().1;
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Lax; Secure");
}

#[test]
fn a_clock_that_is_behind_makes_no_pin_old() {
    let proxy = Proxy::session().at(NOW - 100);
    let visit = get("/").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&visit), is("v2", "pin"));
}
