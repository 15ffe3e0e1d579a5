//! Override tokens: where they are read, which ones are valid, and that the application never receives one.

use crate::fixture::{NOW, Proxy, WHO, get, is, key_on};
use assignment::seal::Seal;
use serde_json::json;

const DAY: u64 = 24 * 3600;

fn proxy() -> Proxy {
    let token = json!({"cookie": {"name": "__Host-token"}, "query": "canary-token", "notBeforeSeconds": NOW - 30 * DAY});
    Proxy::session().with("override", json!({"mode": "token", "token": token}))
}

fn token(proxy: &Proxy) -> String {
    proxy.sign(&Seal::token(b"v2", 2, WHO, NOW - 60, NOW + 60))
}

/// The version and reason that a token with this seal gives a user of the stable half.
fn got(seal: &Seal<'_>) -> (String, &'static str) {
    let proxy = proxy();
    proxy.got(&get("/").header("x-canary-token", proxy.sign(seal)).cookie("S", &key_on(false)))
}

#[test]
fn a_token_counts_by_header_cookie_and_query() {
    let proxy = proxy();
    let token = token(&proxy);
    for visit in [
        get("/").header("x-canary-token", &token),
        get("/").cookie("__Host-token", &token),
        get(&format!("/a?x=1&canary-token={token}&y")),
    ] {
        assert_eq!(proxy.got(&visit), is("v2", "override"), "{visit:?}");
    }
}

#[test]
fn an_expired_token_is_none() {
    assert_eq!(got(&Seal::token(b"v2", 2, WHO, NOW - DAY, NOW + 1)), is("v2", "override"));
    assert_eq!(got(&Seal::token(b"v2", 2, WHO, NOW - DAY, NOW)), is("v1", "hash"));
}

#[test]
fn a_token_for_more_than_7_days_does_not_count_with_any_key() {
    assert_eq!(got(&Seal::token(b"v2", 2, WHO, NOW, NOW + 7 * DAY)), is("v2", "override"));
    assert_eq!(got(&Seal::token(b"v2", 2, WHO, NOW, NOW + 7 * DAY + 1)), is("v1", "hash"));
}

#[test]
fn a_token_issued_more_than_5_minutes_ahead_is_none() {
    assert_eq!(got(&Seal::token(b"v2", 2, WHO, NOW + 300, NOW + 301)), is("v2", "override"));
    for (issued, expires) in
        [(NOW + 301, NOW + 302), (NOW + 365 * DAY, NOW + 366 * DAY), (NOW + 200, NOW + 100)]
    {
        let seal = Seal::token(b"v2", 2, WHO, issued, expires);
        assert_eq!(got(&seal), is("v1", "hash"), "issued {issued}, expires {expires}, now {NOW}");
    }
}

#[test]
fn a_token_issued_before_the_revocation_is_none() {
    let since = |not_before: u64| {
        let token = json!({"cookie": {"name": "t"}, "query": "t", "notBeforeSeconds": not_before});
        let proxy = Proxy::session().with("override", json!({"mode": "token", "token": token}));
        let text = proxy.sign(&Seal::token(b"v2", 2, WHO, NOW - 60, NOW + 60));
        proxy.got(&get("/").header("x-canary-token", text))
    };
    assert_eq!(since(NOW - 60), is("v2", "override"));
    assert_eq!(since(NOW - 59), is("v1", "fallback"));
}

#[test]
fn a_token_of_another_version_epoch_release_or_kind_is_none() {
    for (version, epoch) in [("v2", 1), ("v2", 3), ("v3", 2), ("v0", 9)] {
        let seal = Seal::token(version.as_bytes(), epoch, WHO, NOW, NOW + 60);
        assert_eq!(got(&seal), is("v1", "hash"), "{version} {epoch}");
    }
    let proxy = proxy();
    let foreign = proxy.policy().ring.sign("u2", &Seal::token(b"v2", 2, WHO, NOW, NOW + 60)).unwrap();
    let genuine = token(&proxy);
    for forged in
        [&foreign, &proxy.pin("v2", 2, NOW), &genuine[..genuine.len() - 2], &genuine.to_uppercase(), "t1", ""]
    {
        let visit = get("/").header("x-canary-token", forged).cookie("S", &key_on(false));
        assert_eq!(proxy.got(&visit), is("v1", "hash"), "{forged}");
    }
}

#[test]
fn an_invalid_token_does_not_hide_a_valid_one() {
    let proxy = proxy();
    let visit = get("/").header("x-canary-token", "forged").cookie("__Host-token", "forged");
    assert_eq!(proxy.got(&visit.cookie("__Host-token", &token(&proxy))), is("v2", "override"));
}

#[test]
fn the_application_sees_neither_token_header_nor_cookie_nor_parameter() {
    let proxy = proxy();
    let token = token(&proxy);
    let visit = get(&format!("/a?x=%20&canary-token={token}&y#f")).header("x-canary-token", &token);
    let sent = proxy.send(&visit.header("cookie", format!("S=1; __Host-token={token}; A=\"b c\"")));
    assert_eq!(sent.headers.get(":path").as_deref(), Some("/a?x=%20&y#f"));
    assert_eq!(sent.headers.get("x-canary-token"), None);
    assert_eq!(sent.headers.get("cookie").as_deref(), Some("S=1; A=\"b c\""));
}

#[test]
fn the_applications_other_cookie_lines_are_left_as_they_are() {
    let proxy = proxy();
    let visit =
        get("/").header("cookie", "A=1 ;B=2").header("x", "y").header("cookie", "__Host-token=forged; C=3");
    let sent = proxy.send(&visit.header("cookie", "D=\"4\""));
    assert_eq!(sent.headers.all("cookie"), ["A=1 ;B=2", "C=3", "D=\"4\""]);
    assert_eq!(sent.headers.get("x").as_deref(), Some("y"));
    let only = proxy.send(&get("/").cookie("__Host-token", "forged"));
    assert_eq!(only.headers.get("cookie"), None);
}

#[test]
fn a_token_in_one_of_several_cookie_lines_leads_to_its_version_like_any_other() {
    let proxy = proxy().with("train", json!("autumn"));
    let visit =
        get("/").header("cookie", "A=1").cookie("__Host-token", &token(&proxy)).header("cookie", "B=2");
    let sent = proxy.send(&visit.header("x_canary_id", "forged"));
    assert_eq!(sent.headers.all("cookie"), ["A=1", "B=2"]);
    assert_eq!(sent.headers.get("x-canary-version").as_deref(), Some("shop/web/v2"));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("autumn=canary;override"));
    assert_eq!(sent.headers.get("x_canary_id"), None);
}

#[test]
fn a_token_by_query_becomes_a_cookie_and_leaves_no_trace() {
    let proxy = proxy();
    let token = token(&proxy);
    let response =
        proxy.send(&get(&format!("/?canary-token={token}"))).respond(&[("cache-control", "public")]);
    let line = response.set_cookie_line("__Host-token").unwrap();
    assert_eq!(line, format!("__Host-token={token}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60"));
    assert_eq!(response.get("referrer-policy").as_deref(), Some("no-referrer"));
    assert_eq!(response.get("cache-control").as_deref(), Some("private"), "no cache keeps a tester's page");
}

/// A reload or a bookmark: the URL still has the token.
#[test]
fn a_token_link_opened_again_is_not_passed_on_either() {
    let proxy = proxy();
    let token = token(&proxy);
    let opened =
        |visit: &crate::fixture::Visit| proxy.send(visit).respond(&[("cache-control", "max-age=60")]);
    let link = get(&format!("/?canary-token={token}"));
    for visit in [
        link.clone().cookie("__Host-token", &token),
        link.header("x-canary-token", &token),
        get("/?canary-token=forged"),
        get("/?canary-token="),
    ] {
        let response = opened(&visit);
        assert_eq!(response.get("referrer-policy").as_deref(), Some("no-referrer"), "{visit:?}");
        assert_eq!(response.get("cache-control").as_deref(), Some("private, max-age=60"), "{visit:?}");
        assert!(response.all("set-cookie").is_empty(), "{:?}", response.all("set-cookie"));
    }
}

#[test]
fn the_application_does_not_see_a_token_in_the_referer() {
    let proxy = proxy();
    let from =
        |referer: &str| proxy.send(&get("/style.css").header("referer", referer)).headers.get("referer");
    let token = token(&proxy);
    assert_eq!(
        from(&format!("https://shop.example/a?x=1&canary-token={token}")).as_deref(),
        Some("https://shop.example/a?x=1")
    );
    assert_eq!(from("https://shop.example/?x=1").as_deref(), Some("https://shop.example/?x=1"));
}

#[test]
fn a_token_by_query_leaves_no_store_as_it_is() {
    let proxy = proxy();
    let sent = proxy.send(&get(&format!("/?canary-token={}", token(&proxy))));
    let response =
        sent.respond(&[("cache-control", "no-store, max-age=0"), ("surrogate-control", "no-store")]);
    let lines = response.all("set-cookie");
    assert!(response.set_cookie_line("__Host-token").is_some(), "{lines:?}");
    assert_eq!(response.all("cache-control"), ["no-store, max-age=0"], "stricter than `private`");
}

#[test]
fn a_token_by_header_or_cookie_is_not_set_again() {
    let proxy = proxy();
    let response = proxy.send(&get("/").cookie("__Host-token", &token(&proxy))).respond(&[]);
    assert_eq!(response.get("set-cookie"), None);
    assert_eq!(response.get("referrer-policy"), None);
}

#[test]
fn a_forged_token_by_query_sets_nothing_but_is_hidden() {
    let proxy = proxy();
    let sent = proxy.send(&get("/?canary-token=forged"));
    assert_eq!(sent.headers.get(":path").as_deref(), Some("/"));
    assert_eq!(sent.respond(&[]).get("set-cookie"), None);
}

#[test]
fn a_release_without_tokens_leaves_the_applications_parameters_alone() {
    let visit = get("/?canary-token=theirs").cookie("__Host-token", "theirs");
    let proxy = Proxy::session();
    assert_eq!(proxy.send(&visit).headers.get(":path").as_deref(), Some("/?canary-token=theirs"));
    assert_eq!(proxy.send(&visit).headers.get("cookie").as_deref(), Some("__Host-token=theirs"));
}
