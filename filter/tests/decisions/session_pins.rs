//! A session has a pin of its own, which browsers keep and send exactly where they keep and send its session cookie.

use crate::fixture::{Lines, NOW, Proxy, WHO, get, identity_on, is, key_on, page};
use assignment::Identity;
use assignment::request::session_pin;
use assignment::seal::Seal;
use serde_json::json;

/// The cookie that a session with this value has beside it.
fn pin_of(proxy: &Proxy, session: &str, version: &str, epoch: u32, issued: u64) -> String {
    session_pin(session.as_bytes(), &proxy.pin(version, epoch, issued))
}

/// The attributes of each line that sets or deletes the session's pin.
fn session_pin_lines(response: &Lines) -> Vec<String> {
    response.all("set-cookie").into_iter().filter(|line| line.starts_with("pin.s=")).collect()
}

/// RFC 6265bis §4.1.2, with the attributes that browsers have beyond it, and one that no browser has yet.
#[test]
fn every_attribute_of_the_session_cookie_is_that_of_its_pin() {
    for attributes in [
        "",
        "; Path=/",
        "; Path=/shop",
        "; Domain=example.com; Path=/",
        "; Max-Age=3600",
        "; Expires=Thu, 01 Dec 2033 16:00:00 GMT",
        "; Secure; SameSite=None; Partitioned",
        "; SameSite=Strict",
        ";path=/;secure;samesite=lax",
        "; Priority=High; Future",
    ] {
        let proxy = Proxy::session();
        let sent = proxy.send(&page("/"));
        let response = sent.respond(&[("set-cookie", &format!("S=new{attributes}"))]);
        let line = response.set_cookie_line("pin.s").unwrap();
        let found = line.split_once(';').map_or("", |(_, rest)| rest);
        assert_eq!(found, format!("{attributes}; HttpOnly").trim_start_matches(';'), "{attributes}");
        let ended = sent.respond(&[("set-cookie", &format!("S={attributes}; Max-Age=0"))]);
        assert_eq!(session_pin_lines(&ended), [format!("pin.s={attributes}; Max-Age=0; HttpOnly")]);
    }
}

/// A bank returns the user by a POST from its own site: cookies with `SameSite=Lax` stay away.
#[test]
fn a_request_with_the_session_cookie_and_its_pin_alone_stays_on_its_version() {
    for (version, epoch, weight) in [("v2", 2, 0), ("v1", 1, 10_000)] {
        let proxy = Proxy::session().with("adopt", json!("v1")).with("weight", json!(weight));
        let visit = page("/pay/return")
            .cookie("S", "mine")
            .cookie("pin.s", &pin_of(&proxy, "mine", version, epoch, NOW));
        assert_eq!(proxy.got(&visit), is(version, "pin"));
        let sent = proxy.send(&visit);
        assert_eq!(sent.pin_in(&sent.respond(&[])), None, "nothing is due");
    }
}

#[test]
fn the_pin_of_another_session_does_not_count() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let visit = page("/").cookie("S", "older").cookie("pin.s", &pin_of(&proxy, "other", "v2", 2, NOW));
    assert_eq!(proxy.got(&visit), is("v1", "adopted"));
}

#[test]
fn of_several_sessions_the_first_decides_whatever_the_host_s_pin_says() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let (of_shop, of_root) = (pin_of(&proxy, "of /shop", "v2", 2, NOW), pin_of(&proxy, "of /", "v1", 1, NOW));
    let both = |visit: crate::fixture::Visit| visit.cookie("S", "of /shop").cookie("S", "of /");
    let with_pins = both(get("/shop/cart")).cookie("pin.s", &of_root).cookie("pin.s", &of_shop);
    for host in [proxy.pin("v1", 1, NOW), proxy.pin("v2", 2, NOW), proxy.pin("v2", 2, 0)] {
        assert_eq!(proxy.got(&with_pins.clone().cookie("__Host-pin", &host)), is("v2", "pin"));
    }
    let older = both(get("/shop/cart"));
    let of_root_alone = older.clone().cookie("pin.s", &pin_of(&proxy, "of /", "v2", 2, NOW));
    let host = pin_of(&proxy, "of /", "v2", 2, NOW);
    assert_eq!(proxy.got(&of_root_alone.cookie("__Host-pin", &host)), is("v1", "adopted"), "it is that of /");
    let host = proxy.pin("v2", 2, NOW);
    assert_eq!(proxy.got(&older.cookie("__Host-pin", &host)), is("v2", "pin"), "it was not seen to begin");
}

#[test]
fn a_session_cookie_by_another_name_in_the_file_keeps_its_sessions() {
    let proxy = Proxy::session().with("adopt", json!("v1")).with("weight", json!(0));
    let pin = pin_of(&proxy, "mine", "v2", 2, NOW);
    let visit =
        get("/").cookie("S", "mine").cookie("T", "another").cookie("pin.s", &pin).cookie("__Host-pin", &pin);
    for name in ["S", "T"] {
        let proxy = Proxy::session()
            .with("adopt", json!("v1"))
            .with("weight", json!(0))
            .with("sessionCookie", json!(name));
        assert_eq!(proxy.got(&visit), is("v2", "pin"), "{name}");
    }
}

#[test]
fn a_pin_of_the_session_that_is_gone_leaves_the_host_s() {
    let proxy = Proxy::session();
    let visit = get("/").cookie("S", "mine").cookie("pin.s", &pin_of(&proxy, "mine", "v2", 1, NOW));
    assert_eq!(proxy.got(&visit.clone().cookie("__Host-pin", &proxy.pin("v1", 1, NOW))), is("v1", "pin"));
    let sent = proxy.send(&visit);
    assert_eq!(sent.state.as_ref().unwrap().decision.reason.as_str(), "hash", "not adopted: it had a pin");
    assert!(sent.pin_in(&sent.respond(&[("cache-control", "no-store")])).is_some(), "pinned at once");
}

#[test]
fn a_new_session_leaves_the_host_s_pin_that_others_may_depend_on() {
    let proxy = Proxy::session().with("weight", json!(0));
    let ended = page("/shop").cookie("__Host-pin", &proxy.pin("v2", 2, 0));
    assert_eq!(proxy.got(&ended).0, "v1", "the user has logged out here");
    let sent = proxy.send(&ended);
    let response = sent.respond(&[("set-cookie", "S=new; Path=/shop")]);
    assert_eq!(sent.pin_in(&response), None);
    assert_eq!(sent.session_pin_in(&response).map(|pin| pin.0).as_deref(), Some("v1"));
    let other = get("/").cookie("S", "of another path").cookie("__Host-pin", &proxy.pin("v2", 2, 0));
    assert_eq!(proxy.got(&other), is("v2", "pin"));
    let first = proxy.send(&page("/"));
    assert!(
        first.pin_in(&first.respond(&[("set-cookie", "S=new")])).is_some(),
        "the first of the host writes it"
    );
}

#[test]
fn a_logout_ends_the_session_s_pin_and_leaves_the_host_s_of_another_session() {
    let proxy = Proxy::session();
    let visit =
        get("/shop/logout").cookie("S", "mine").cookie("pin.s", &pin_of(&proxy, "mine", "v2", 2, NOW));
    for (host, expected) in [
        (proxy.pin("v2", 2, NOW), Some(("v2".to_owned(), 2, WHO, 0))),
        (proxy.pin("v2", 2, NOW - 9), Some(("v2".to_owned(), 2, WHO, 0))),
        (proxy.pin("v1", 1, NOW), None),
    ] {
        let sent = proxy.send(&visit.clone().cookie("__Host-pin", &host));
        let response = sent.respond(&[("set-cookie", "S=; Path=/shop; Max-Age=0")]);
        assert_eq!(session_pin_lines(&response), ["pin.s=; Path=/shop; Max-Age=0; HttpOnly"]);
        assert_eq!(sent.pin_in(&response), expected);
    }
}

/// Auth.js and others split a session that is too long for a cookie.
#[test]
fn a_session_in_parts_has_one_pin_through_growth_and_shrinking() {
    let mut proxy = Proxy::session();
    proxy.context.draws(identity_on(true).as_u64());
    let sent = proxy.send(&page("/"));
    let grown =
        sent.respond(&[("set-cookie", "S=; Max-Age=0"), ("set-cookie", "S.0=a"), ("set-cookie", "S.1=b")]);
    let lines = session_pin_lines(&grown);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], "pin.s=; Max-Age=0; HttpOnly", "the deletion comes first");
    let value = lines[1].split_once('=').unwrap().1.split(';').next().unwrap().to_owned();
    let proxy = proxy.with("weight", json!(0)).with("adopt", json!("v1"));
    let visit = page("/").cookie("S.0", "a").cookie("S.1", "b").cookie("pin.s", &value);
    assert_eq!(proxy.got(&visit), is("v2", "pin"));
    let sent = proxy.send(&visit);
    let shrunk = sent.respond(&[("set-cookie", "S.0=c"), ("set-cookie", "S.1=; Max-Age=0")]);
    assert_eq!(session_pin_lines(&shrunk).len(), 1, "the part that goes ends no session");
    let value = shrunk.set_cookie("pin.s").unwrap();
    assert_eq!(proxy.got(&page("/").cookie("S.0", "c").cookie("pin.s", &value)), is("v2", "pin"));
    let whole = sent.respond(&[
        ("set-cookie", "S=d"),
        ("set-cookie", "S.0=; Max-Age=0"),
        ("set-cookie", "S.1=; Max-Age=0"),
    ]);
    let value = whole.set_cookie("pin.s").unwrap();
    assert_eq!(proxy.got(&page("/").cookie("S", "d").cookie("pin.s", &value)), is("v2", "pin"));
    let ended = sent.respond(&[("set-cookie", "S.0=; Max-Age=0"), ("set-cookie", "S.1=; Max-Age=0")]);
    assert!(session_pin_lines(&ended).iter().all(|line| line.starts_with("pin.s=;")), "{ended:?}");
}

#[test]
fn an_old_session_in_parts_is_adopted_by_its_first_part() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    let sent = proxy.send(&page("/").cookie("S.0", "a").cookie("S.1", "b"));
    let pin = sent.pin_in(&sent.respond(&[("cache-control", "no-store")]));
    assert_eq!(pin, Some(("v1".to_owned(), 1, Identity::of_key(b"a"), NOW)));
}

#[test]
fn only_a_genuine_pin_of_the_session_counts() {
    let proxy = Proxy::session();
    let pin = proxy.pin("v2", 2, NOW);
    let edited = proxy.pin("v1", 1, NOW).replacen(".v1.1.", ".v2.2.", 1);
    let forged = [session_pin(b"mine", &edited), session_pin(b"mine", "v2"), pin.clone(), format!(".{pin}")];
    for value in &forged {
        let visit = get("/").cookie("S", &key_on(false)).cookie("pin.s", value);
        assert_eq!(proxy.got(&visit), is("v1", "hash"), "{value}");
    }
}

#[test]
fn contradicting_pins_of_one_session_are_in_doubt() {
    let proxy = Proxy::session();
    let visit = get("/").cookie("S", "mine");
    let visit = visit.cookie("pin.s", &pin_of(&proxy, "mine", "v2", 2, NOW));
    assert_eq!(
        proxy.got(&visit.cookie("pin.s", &pin_of(&proxy, "mine", "v1", 1, NOW))),
        is("v1", "conflict")
    );
}

#[test]
fn a_request_without_the_session_cookie_follows_the_session_s_pin_before_the_host_s() {
    let proxy = Proxy::session();
    let visit = get("/style.css").cookie("__Host-pin", &proxy.pin("v1", 1, NOW));
    assert_eq!(proxy.got(&visit), is("v1", "pin"));
    assert_eq!(proxy.got(&visit.cookie("pin.s", &pin_of(&proxy, "mine", "v2", 2, NOW))), is("v2", "pin"));
}

/// It lives as long as the session cookie; nothing has to be written with each response.
#[test]
fn a_session_with_a_pin_of_its_own_needs_no_renewal() {
    let proxy = Proxy::session();
    let own = pin_of(&proxy, "mine", "v2", 2, NOW - 40 * 24 * 3600);
    let visit = get("/").cookie("S", "mine").cookie("pin.s", &own);
    for host in ["", &own, &proxy.pin("v1", 1, NOW - 9)] {
        let visit = visit.clone().cookie("__Host-pin", host);
        assert_eq!(proxy.got(&visit), is("v2", "pin"));
        let sent = proxy.send(&visit);
        assert_eq!(sent.pin_in(&sent.respond(&[("cache-control", "no-store")])), None, "{host}");
    }
}

/// Frameworks that encrypt a session into its cookie change it with each response.
#[test]
fn a_user_whose_key_changes_with_each_response_stays_decided() {
    for canary in [true, false] {
        for mint in ["navigation", "never"] {
            let proxy = Proxy::user().with("mint", json!(mint));
            let sent = proxy.send(&get("/").cookie("S", &key_on(canary)));
            let response = sent.respond(&[("set-cookie", &format!("S={}", key_on(!canary)))]);
            assert_eq!(sent.id_in(&response), Some(identity_on(canary)), "{mint}");
            let id = response.set_cookie("__Host-canary-id").unwrap();
            let next = get("/").cookie("S", &key_on(!canary)).cookie("__Host-canary-id", &id);
            let version = if canary { "v2" } else { "v1" };
            assert_eq!(proxy.got(&next), is(version, "hash"));
            let again = proxy.send(&next).respond(&[("set-cookie", "S=third")]);
            assert_eq!(again.all("set-cookie"), ["S=third"], "the id decides already");
        }
    }
}

#[test]
fn a_key_that_keeps_its_value_or_another_cookie_adds_no_id() {
    let proxy = Proxy::user();
    let sent = proxy.send(&get("/").cookie("S", &key_on(true)));
    for line in [format!("S={}; Max-Age=60", key_on(true)), "T=other".to_owned(), "S.0=part".to_owned()] {
        assert_eq!(sent.respond(&[("set-cookie", &line)]).all("set-cookie"), [line]);
    }
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    let minted = proxy.send(&get("/").cookie("S", &key_on(false)).cookie("__Host-canary-id", &id));
    assert_eq!(minted.respond(&[("set-cookie", "S=x")]).all("set-cookie"), ["S=x"]);
}
