//! Session affinity and trains: every row propagates the user's identity to the next hop; releases without them do not.

use crate::fixture::{NOW, Proxy, WHO, get, key_on, page};
use serde_json::json;

#[test]
fn with_pod_affinity_every_row_writes_an_identity() {
    let proxy = || {
        let open = Proxy::session()
            .with("sessionAffinity", json!("identity"))
            .with("override", json!({"mode": "open"}));
        open.with("adopt", json!("v1"))
    };
    let pin = |version, epoch| proxy().pin(version, epoch, NOW);
    for (visit, row) in [
        (get("/").header("x-canary-override", "canary"), "override"),
        (get("/").cookie("__Host-pin", &pin("v2", 2)), "pin"),
        (get("/").cookie("S", "old"), "adopted"),
        (get("/").cookie("S", "old").cookie("__Host-pin", &pin("v2", 1)), "hash"),
        (page("/"), "minted"),
        (get("/"), "fallback"),
        (get("/").cookie("__Host-pin", &pin("v9", 1)), "unknown"),
        (get("/").cookie("__Host-pin", &pin("v2", 2)).cookie("__Host-pin", &pin("v1", 1)), "conflict"),
    ] {
        let proxy = proxy();
        assert_eq!(proxy.got(&visit).1, row);
        let identity = proxy.send(&visit).headers.get("x-canary-id").unwrap_or_default();
        assert_eq!(identity.len(), 16, "{row}: {identity}");
    }
}

#[test]
fn a_tester_keeps_a_pod_by_their_own_key() {
    let proxy =
        Proxy::session().with("sessionAffinity", json!("identity")).with("override", json!({"mode": "open"}));
    let visit = get("/").header("x-canary-override", "canary").cookie("S", "mine");
    let identity = || proxy.send(&visit).headers.get("x-canary-id");
    assert_eq!(identity(), identity());
    assert_eq!(identity(), Some(assignment::Identity::of_key(b"mine").to_string()));
}

#[test]
fn a_pins_identity_is_the_one_that_travels() {
    let proxy = Proxy::session().with("train", json!("autumn"));
    let sent =
        proxy.send(&get("/").cookie("S", &key_on(false)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW)));
    assert_eq!(sent.headers.get("x-canary-id"), Some(WHO.to_string()));
    assert_eq!(sent.headers.get("x-canary-cohort").as_deref(), Some("autumn=canary"));
}

#[test]
fn a_release_without_train_and_affinity_propagates_no_identity() {
    let sent_by = Proxy::session();
    let sent = sent_by.send(&get("/").cookie("S", "x"));
    assert_eq!(sent.headers.get("x-canary-id"), None);
    assert_eq!(sent.headers.get("x-canary-cohort"), None);
}

#[test]
fn the_routing_header_names_release_and_version() {
    let proxy = Proxy::session();
    let routed = |canary| proxy.send(&get("/").cookie("S", &key_on(canary))).headers.get("x-canary-version");
    assert_eq!(routed(true).as_deref(), Some("shop/web/v2"));
    assert_eq!(routed(false).as_deref(), Some("shop/web/v1"));
}

#[test]
fn the_debug_header_says_what_was_decided_only_where_asked() {
    let silent = Proxy::session();
    assert_eq!(silent.send(&get("/").cookie("S", "x")).respond(&[]).get("x-debug"), None);
    let proxy = Proxy::session().with_proxy("debugHeader", json!("x-debug"));
    let said = proxy.send(&get("/").cookie("S", &key_on(true))).respond(&[]).get("x-debug").unwrap();
    for part in ["release=shop/web", "version=v2", "role=canary", "reason=hash", "bucket=", "generation=7"] {
        assert!(said.contains(part), "{said}");
    }
    let pinned = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    let said = proxy.send(&pinned).respond(&[]).get("x-debug").unwrap();
    assert!(said.contains("reason=pin"), "{said}");
}
