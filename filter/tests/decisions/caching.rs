//! Responses that a shared cache may store: they contain nothing of one user, and `cacheControl: private`.

use crate::fixture::{NOW, Proxy, get, key_on, page};
use serde_json::json;

/// Responses that a shared cache may store, and whether the request was a navigation.
const STORABLE: [(&[(&str, &str)], bool); 8] = [
    (&[("cache-control", "public")], true),
    (&[("cache-control", "max-age=60")], true),
    (&[("cache-control", "s-maxage=5, max-age=0")], true),
    (&[("expires", "Thu, 01 Dec 2033 16:00:00 GMT")], true),
    (&[("cdn-cache-control", "max-age=60")], true),
    (&[("cache-control", "private"), ("surrogate-control", "max-age=60")], true),
    (&[("cache-control", "no-store"), ("netlify-cdn-cache-control", "public")], true),
    (&[], false),
];

#[test]
fn no_minted_id_goes_into_a_response_that_a_cache_may_keep() {
    let proxy = Proxy::user().with("mint", json!("always"));
    for (response, navigation) in STORABLE {
        let visit = if navigation { page("/") } else { get("/") };
        let received = proxy.send(&visit).respond(response);
        assert!(received.all("set-cookie").is_empty(), "{response:?}");
        assert_eq!(
            received.all("cache-control"),
            header(response, "cache-control"),
            "{response:?}: left as it is"
        );
    }
}

#[test]
fn no_refreshed_pin_goes_into_a_response_that_a_cache_may_keep() {
    let proxy = Proxy::session();
    let visit = |navigation| if navigation { page("/") } else { get("/") };
    let aged = proxy.pin("v2", 2, NOW - 25 * 3600);
    for (response, navigation) in STORABLE {
        let sent = proxy.send(&visit(navigation).cookie("S", "x").cookie("__Host-pin", &aged));
        assert!(sent.respond(response).all("set-cookie").is_empty(), "{response:?}");
    }
}

#[test]
fn a_private_response_takes_ids_and_pins() {
    let proxy = Proxy::user();
    for control in ["private", "no-store", "private, max-age=60"] {
        let sent = proxy.send(&page("/"));
        let response = sent.respond(&[("cache-control", control)]);
        assert!(sent.id_in(&response).is_some(), "{control}");
        assert_eq!(response.get("cache-control").as_deref(), Some(control), "the application's word stays");
    }
}

/// RFC 9111 §3: a shared cache may store them, and some reuse them within the second.
#[test]
fn a_response_that_is_only_revalidated_takes_ids_and_pins_and_becomes_private() {
    let (minting, pinning) = (Proxy::user(), Proxy::session());
    for control in ["no-cache", "max-age=0", "must-revalidate"] {
        let sent = minting.send(&page("/"));
        let response = sent.respond(&[("cache-control", control)]);
        assert!(sent.id_in(&response).is_some(), "{control}: {:?}", response.all("set-cookie"));
        let expected = format!("private, {control}");
        assert_eq!(response.all("cache-control"), [expected.as_str()]);
        let sent = pinning.send(&get("/").cookie("S", "x"));
        let response = sent.respond(&[("set-cookie", "S=new"), ("cache-control", control)]);
        assert!(sent.pin_in(&response).is_some(), "{control}: {:?}", response.all("set-cookie"));
        assert_eq!(response.all("cache-control"), [expected.as_str()]);
    }
}

#[test]
fn a_pin_beside_a_new_session_is_hidden_from_cdns_whatever_the_other_words_are() {
    let proxy = Proxy::session();
    for header in ["cdn-cache-control", "surrogate-control", "edge-control", "akamai-cdn-cache-control"] {
        for control in ["private", "no-store", "public, s-maxage=60"] {
            let response = proxy.send(&get("/").cookie("S", "x")).respond(&[
                ("set-cookie", "S=new"),
                ("cache-control", control),
                (header, "max-age=60"),
            ]);
            assert!(response.set_cookie_line("__Host-pin").is_some(), "{header} beside {control}");
            assert_eq!(response.get(header), None, "{header} beside {control}");
            let left = response.get("cache-control").unwrap();
            assert!(left == "private" || left == "no-store", "{header} beside {control}: {left}");
        }
    }
}

#[test]
fn a_silent_response_to_a_post_takes_ids_and_pins() {
    let post = || get("/").instead(":method", "POST");
    let minting = Proxy::user().with("mint", json!("always"));
    let minted = minting.send(&post());
    let response = minted.respond(&[]);
    assert!(minted.id_in(&response).is_some(), "{:?}", response.all("set-cookie"));
    assert_eq!(response.get("cache-control").as_deref(), Some("private"));
    let pinning = Proxy::session();
    let aged = pinning.pin("v2", 2, NOW - 25 * 3600);
    let pinned = pinning.send(&post().cookie("S", "x").cookie("__Host-pin", &aged));
    let response = pinned.respond(&[]);
    assert_eq!(pinned.pin_in(&response).map(|pin| pin.3), Some(NOW), "{:?}", response.all("set-cookie"));
}

#[test]
fn where_a_cookie_is_added_to_a_silent_response_it_becomes_private() {
    let proxy = Proxy::session();
    let minted = proxy.send(&page("/")).respond(&[]);
    assert_eq!(minted.get("cache-control").as_deref(), Some("private"));
    let pinned = proxy.send(&get("/").cookie("S", "x")).respond(&[("set-cookie", "S=new")]);
    assert_eq!(pinned.get("cache-control").as_deref(), Some("private"));
    let pin = proxy.pin("v1", 1, NOW);
    let untouched = proxy.send(&get("/").cookie("S", "x").cookie("__Host-pin", &pin)).respond(&[]);
    assert_eq!(untouched.get("cache-control"), None);
}

#[test]
fn guard_makes_cacheable_responses_of_the_canary_private() {
    let proxy = Proxy::session().with("cacheControl", json!("private"));
    let visit = get("/").cookie("S", &key_on(true));
    let response = proxy.send(&visit).respond(&[
        ("cache-control", "public, s-maxage=9, max-age=60, must-revalidate"),
        ("cdn-cache-control", "max-age=99"),
    ]);
    assert_eq!(response.get("cache-control").as_deref(), Some("private, max-age=60, must-revalidate"));
    assert_eq!(response.get("cdn-cache-control"), None);
    let silent = proxy.send(&visit).respond(&[]);
    assert_eq!(silent.get("cache-control").as_deref(), Some("private"), "caches guess");
    for control in ["no-cache", "max-age=0"] {
        let revalidated = proxy.send(&visit).respond(&[("cache-control", control)]);
        assert_eq!(revalidated.all("cache-control"), [format!("private, {control}").as_str()]);
    }
    let targeted =
        proxy.send(&visit).respond(&[("cache-control", "private"), ("surrogate-control", "max-age=9")]);
    assert_eq!(targeted.get("surrogate-control"), None, "it overrules `private` at a CDN");
    let unstored = proxy.send(&visit).respond(&[("cache-control", "no-store")]);
    assert_eq!(unstored.get("cache-control").as_deref(), Some("no-store"));
    let pinned = visit.cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    let response = proxy.send(&pinned).respond(&[("cache-control", "public, max-age=60")]);
    assert_eq!(response.get("cache-control").as_deref(), Some("private, max-age=60"), "of pinned users too");
}

#[test]
fn guard_leaves_the_stable_version_cacheable_and_without_it_all_are() {
    let public = [("cache-control", "public, max-age=60")];
    let guarded = Proxy::session().with("cacheControl", json!("private"));
    let stable = guarded.send(&get("/").cookie("S", &key_on(false))).respond(&public);
    assert_eq!(stable.get("cache-control").as_deref(), Some("public, max-age=60"));
    let passing = Proxy::session();
    let canary = passing.send(&get("/").cookie("S", &key_on(true))).respond(&public);
    assert_eq!(canary.get("cache-control").as_deref(), Some("public, max-age=60"));
}

fn header(response: &[(&str, &str)], name: &str) -> Vec<String> {
    response.iter().filter(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned()).collect()
}
