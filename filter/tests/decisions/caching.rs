//! Answers that a shared cache may keep: nothing of one user's goes into them, and `caches: guard`.

use crate::fixture::{NOW, Proxy, get, key_on, page};
use serde_json::json;

/// Answers that a shared cache may store, and whether the request was a navigation.
const STORABLE: [(&[(&str, &str)], bool); 6] = [
    (&[("cache-control", "public")], true),
    (&[("cache-control", "max-age=60")], true),
    (&[("cache-control", "s-maxage=5, max-age=0")], true),
    (&[("expires", "Thu, 01 Dec 2033 16:00:00 GMT")], true),
    (&[("cdn-cache-control", "max-age=60")], true),
    (&[], false),
];

#[test]
fn no_minted_id_goes_into_an_answer_that_a_cache_may_keep() {
    let proxy = Proxy::user().with("mint", json!("always"));
    for (answer, navigation) in STORABLE {
        let visit = if navigation { page("/") } else { get("/") };
        let answered = proxy.send(&visit).answer(answer);
        assert!(answered.all("set-cookie").is_empty(), "{answer:?}");
        assert_eq!(
            answered.all("cache-control"),
            header(answer, "cache-control"),
            "{answer:?}: left as it is"
        );
    }
}

#[test]
fn no_refreshed_pin_goes_into_an_answer_that_a_cache_may_keep() {
    let proxy = Proxy::session();
    let visit = |navigation| if navigation { page("/") } else { get("/") };
    let aged = proxy.pin("v2", 2, NOW - 25 * 3600);
    for (answer, navigation) in STORABLE {
        let sent = proxy.send(&visit(navigation).cookie("S", "x").cookie("__Host-pin", &aged));
        assert!(sent.answer(answer).all("set-cookie").is_empty(), "{answer:?}");
    }
}

#[test]
fn a_private_answer_takes_ids_and_pins() {
    let proxy = Proxy::user();
    for control in ["private", "no-store", "private, max-age=60", "no-cache", "max-age=0"] {
        let sent = proxy.send(&page("/"));
        let answer = sent.answer(&[("cache-control", control)]);
        assert!(sent.id_in(&answer).is_some(), "{control}");
        assert_eq!(answer.get("cache-control").as_deref(), Some(control), "the application's word stays");
    }
}

#[test]
fn where_a_cookie_is_added_to_a_silent_answer_it_becomes_private() {
    let proxy = Proxy::session();
    let minted = proxy.send(&page("/")).answer(&[]);
    assert_eq!(minted.get("cache-control").as_deref(), Some("private"));
    let pinned = proxy.send(&get("/").cookie("S", "x")).answer(&[("set-cookie", "S=new")]);
    assert_eq!(pinned.get("cache-control").as_deref(), Some("private"));
    let pin = proxy.pin("v1", 1, NOW);
    let untouched = proxy.send(&get("/").cookie("S", "x").cookie("__Host-pin", &pin)).answer(&[]);
    assert_eq!(untouched.get("cache-control"), None);
}

#[test]
fn guard_makes_cacheable_answers_of_the_canary_private() {
    let proxy = Proxy::session().with("caches", json!("guard"));
    let visit = get("/").cookie("S", &key_on(true));
    let answer = proxy.send(&visit).answer(&[
        ("cache-control", "public, s-maxage=9, max-age=60, must-revalidate"),
        ("cdn-cache-control", "max-age=99"),
    ]);
    assert_eq!(answer.get("cache-control").as_deref(), Some("private, max-age=60, must-revalidate"));
    assert_eq!(answer.get("cdn-cache-control"), None);
    let silent = proxy.send(&visit).answer(&[]);
    assert_eq!(silent.get("cache-control").as_deref(), Some("private"), "caches guess");
    let unstored = proxy.send(&visit).answer(&[("cache-control", "no-store")]);
    assert_eq!(unstored.get("cache-control").as_deref(), Some("no-store"));
    let pinned = visit.cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    let answer = proxy.send(&pinned).answer(&[("cache-control", "public, max-age=60")]);
    assert_eq!(answer.get("cache-control").as_deref(), Some("private, max-age=60"), "of pinned users too");
}

#[test]
fn guard_leaves_the_stable_version_cacheable_and_without_it_all_are() {
    let public = [("cache-control", "public, max-age=60")];
    let guarded = Proxy::session().with("caches", json!("guard"));
    let stable = guarded.send(&get("/").cookie("S", &key_on(false))).answer(&public);
    assert_eq!(stable.get("cache-control").as_deref(), Some("public, max-age=60"));
    let passing = Proxy::session();
    let canary = passing.send(&get("/").cookie("S", &key_on(true))).answer(&public);
    assert_eq!(canary.get("cache-control").as_deref(), Some("public, max-age=60"));
}

fn header(answer: &[(&str, &str)], name: &str) -> Vec<String> {
    answer.iter().filter(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned()).collect()
}
