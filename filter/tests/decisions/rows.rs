//! The decision table, row by row, and that an earlier row wins.

use crate::fixture::{NOW, Proxy, TestContext, get, is, key_on, page};
use serde_json::json;

#[test]
fn row_1_another_host_or_path_gets_no_routing_header_and_no_pin() {
    let proxy = Proxy::session().with("paths", json!(["/shop"]));
    for visit in [page("/other"), page("/shop").instead(":authority", "other.example")] {
        let sent = proxy.send(&visit);
        assert!(sent.state.is_none(), "{visit:?}: {:?}", sent.state);
        assert_eq!(sent.headers, visit.lines(), "untouched");
    }
}

#[test]
fn row_2_an_override_naming_a_live_version_is_followed_and_never_pinned() {
    let proxy = Proxy::session().with("override", json!({"mode": "open"}));
    for (asked, version) in [("canary", "v2"), ("stable", "v1"), ("v2", "v2"), ("v1", "v1")] {
        let visit = page("/").header("x-canary-override", asked).cookie("S", &key_on(version == "v1"));
        assert_eq!(proxy.got(&visit), is(version, "override"), "{asked}");
        let sent = proxy.send(&visit);
        let response = sent.respond(&[("set-cookie", "S=new"), ("cache-control", "no-store")]);
        assert_eq!(sent.pin_in(&response), None, "{asked}");
    }
}

#[test]
fn row_2_an_override_naming_no_live_version_is_no_override() {
    let proxy = Proxy::session().with("override", json!({"mode": "open"}));
    for asked in ["v3", "draining", "", "Canary", "v2 ", "shop/web/v2"] {
        let visit = get("/").header("x-canary-override", asked).cookie("S", &key_on(true));
        assert_eq!(proxy.got(&visit), is("v2", "hash"), "{asked}");
    }
}

#[test]
fn row_3_a_pin_of_a_live_version_beats_the_bucket() {
    let proxy = Proxy::session();
    for (version, epoch, key) in [("v1", 1, key_on(true)), ("v2", 2, key_on(false))] {
        let visit = get("/").cookie("S", &key).cookie("__Host-pin", &proxy.pin(version, epoch, NOW - 5));
        assert_eq!(proxy.got(&visit), is(version, "pin"));
    }
}

#[test]
fn row_4_inside_the_mesh_the_edges_cohort_names_the_role() {
    let visit = |cohort| {
        get("/").header("x-canary-cohort", cohort).header("x-canary-id", crate::fixture::WHO.to_string())
    };
    assert_eq!(Proxy::mesh().got(&visit("autumn=canary")), is("v2", "cohort"));
    assert_eq!(Proxy::mesh().got(&visit("autumn=stable")), is("v1", "cohort"));
    assert_eq!(Proxy::mesh().got(&visit("spring=stable, autumn=canary")), is("v2", "cohort"));
    assert_eq!(Proxy::mesh().got(&visit("autumn=canary;override")), is("v2", "override"));
    for no_role_here in ["autumn=draining", "autumn=v2", "winter=canary", "", "autumn"] {
        assert_eq!(Proxy::mesh().got(&visit(no_role_here)).1, "hash", "{no_role_here}");
    }
}

#[test]
fn row_5_a_session_older_than_the_filter_stays_on_the_version_that_was_stable() {
    let proxy = Proxy::session().with("adopt", json!("v1"));
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v1", "adopted"));
    let without_adoption = Proxy::session();
    assert_eq!(without_adoption.got(&get("/").cookie("S", &key_on(true))), is("v2", "hash"));
}

#[test]
fn row_6_a_user_with_a_key_goes_where_the_bucket_says() {
    for proxy in [Proxy::session(), Proxy::user()] {
        assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v2", "hash"));
        assert_eq!(proxy.got(&get("/").cookie("S", &key_on(false))), is("v1", "hash"));
    }
}

#[test]
fn row_7_a_browser_without_a_key_is_drawn_now() {
    for (canary, version) in [(true, "v2"), (false, "v1")] {
        let mut proxy = Proxy::session();
        proxy.context.draws(crate::fixture::identity_on(canary).as_u64());
        assert_eq!(proxy.got(&page("/")), is(version, "minted"));
    }
}

#[test]
fn row_8_everything_else_is_stable() {
    let full = json!(10_000);
    assert_eq!(Proxy::session().with("weight", full.clone()).got(&get("/")), is("v1", "fallback"));
    let mut no_randomness = Proxy::session().with("weight", full.clone());
    no_randomness.context.random = None;
    assert_eq!(no_randomness.got(&page("/")), is("v1", "fallback"));
    let never = Proxy::session().with("weight", full).with("mint", json!("never"));
    assert_eq!(never.got(&page("/")), is("v1", "fallback"));
}

#[test]
fn row_8_can_go_by_the_clients_address() {
    let on_address = |address: &str| {
        let mut proxy = Proxy::user().with("fallback", json!("clientAddress"));
        proxy.context = TestContext { address: Some(address.as_bytes().to_vec()), ..TestContext::default() };
        proxy.got(&get("/"))
    };
    assert_eq!(on_address(&key_on(true)), is("v2", "fallback"));
    assert_eq!(on_address(&key_on(false)), is("v1", "fallback"));
    assert_eq!(on_address(""), is("v1", "fallback"), "no address");
}

#[test]
fn each_row_beats_those_below_it() {
    let proxy = Proxy::session().with("override", json!({"mode": "open"})).with("adopt", json!("v1"));
    let pin = proxy.pin("v2", 2, NOW);
    let everything = page("/").header("x-canary-override", "stable").cookie("__Host-pin", &pin);
    let everything = everything.cookie("S", &key_on(true));
    assert_eq!(proxy.got(&everything), is("v1", "override"));
    assert_eq!(proxy.got(&everything.clone().instead("x-canary-override", "nobody")), is("v2", "pin"));
    let unpinned = page("/").cookie("S", &key_on(true));
    assert_eq!(proxy.got(&unpinned), is("v1", "adopted"));
    assert_eq!(Proxy::session().got(&unpinned), is("v2", "hash"), "a key beats minting");
}
