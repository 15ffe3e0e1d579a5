//! The sources of the key: an ordered list; the first that is present and not empty is used.

use crate::fixture::{NOW, Proxy, Visit, get, identity_on, is, key_on};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::{Value, json};

fn identity(proxy: &Proxy, visit: &Visit) -> Option<Identity> {
    proxy.send(visit).state.unwrap().decision.identity
}

fn with_keys(keys: Value) -> Proxy {
    Proxy::user().with("identifyBy", keys)
}

#[test]
fn keys_are_tried_in_their_order() {
    let proxy = with_keys(json!([{"header": "x-user"}, {"query": "u"}, {"cookie": "A"}, {"cookie": "S"}]));
    let visit = get("/?u=by-query").header("x-user", "by-header").cookie("A", "by-a").cookie("S", "by-s");
    assert_eq!(identity(&proxy, &visit), Some(Identity::of_key(b"by-header")));
    let visit = get("/?u=by-query").cookie("A", "by-a").cookie("S", "by-s");
    assert_eq!(identity(&proxy, &visit), Some(Identity::of_key(b"by-query")));
    let visit = get("/").cookie("S", "by-s").cookie("A", "by-a");
    assert_eq!(identity(&proxy, &visit), Some(Identity::of_key(b"by-a")));
    assert_eq!(identity(&proxy, &get("/").cookie("S", "by-s")), Some(Identity::of_key(b"by-s")));
}

#[test]
fn an_empty_value_is_none() {
    let keys = json!([{"header": "x-user"}, {"query": "u"}, {"jwt": {"claim": ["sub"]}}, {"cookie": "A"}, {"cookie": "S"}]);
    let mut proxy = with_keys(keys);
    proxy.context.claims = vec![(vec!["sub".to_owned()], Vec::new())];
    let visit = get("/?u=").header("x-user", "").cookie("A", "").cookie("S", "by-s");
    assert_eq!(identity(&proxy, &visit), Some(Identity::of_key(b"by-s")));
    assert_eq!(proxy.got(&get("/?u=").header("x-user", "").cookie("S", "")), is("v1", "fallback"));
    let repeated = get("/?u=&u=x").header("x-user", "").header("x-user", "ana");
    assert_eq!(identity(&proxy, &repeated), Some(Identity::of_key(b"ana")), "nor does it hide the next line");
}

#[test]
fn a_key_is_taken_as_it_was_sent() {
    let proxy = with_keys(json!([{"query": "u"}, {"cookie": "S"}]));
    assert_eq!(identity(&proxy, &get("/?x=1&u=a%20b&u=c#u=d")), Some(Identity::of_key(b"a%20b")));
    let visit = get("/").header("cookie", b"S=\"\xff \xfe\"; S=later");
    assert_eq!(identity(&proxy, &visit), Some(Identity::of_key(b"\"\xff \xfe\"")));
}

#[test]
fn a_claim_comes_from_verified_metadata_and_never_from_the_header() {
    let mut proxy = with_keys(json!([{"jwt": {"claim": ["realm", "user"]}}]));
    let visit =
        get("/").header("authorization", "Bearer eyJhbGciOiJub25lIn0.eyJyZWFsbSI6eyJ1c2VyIjoiYW5hIn19.");
    assert_eq!(proxy.got(&visit), is("v1", "fallback"), "no metadata, no key");
    proxy.context.claims = vec![(vec!["realm".to_owned(), "user".to_owned()], key_on(true).into_bytes())];
    assert_eq!(proxy.got(&visit), is("v2", "hash"));
}

#[test]
fn a_clients_address_can_be_the_key() {
    let mut proxy = with_keys(json!([{"clientAddress": {}}]));
    assert_eq!(proxy.got(&get("/")), is("v1", "fallback"));
    proxy.context.address = Some(key_on(true).into_bytes());
    assert_eq!(proxy.got(&get("/")), is("v2", "hash"));
}

#[test]
fn the_previous_hops_identity_is_a_key_inside_the_mesh_only() {
    let visit = get("/").header("x-canary-id", identity_on(true).to_string());
    assert_eq!(Proxy::mesh().got(&visit), is("v2", "hash"));
    assert_eq!(
        with_keys(json!([{"identity": {}}])).got(&visit),
        is("v1", "fallback"),
        "at the edge it is the client's"
    );
    assert_eq!(
        Proxy::mesh().got(&get("/").header("x-canary-id", "not sixteen digits")),
        is("v1", "fallback")
    );
}

#[test]
fn a_minted_id_comes_directly_before_the_first_cookie_key() {
    let proxy = with_keys(json!([{"header": "x-user"}, {"cookie": "S"}]));
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-canary-id", &id);
    assert_eq!(identity(&proxy, &visit), Some(identity_on(true)), "not drawn anew when a session opens");
    let visit = visit.header("x-user", "ana");
    assert_eq!(
        identity(&proxy, &visit),
        Some(Identity::of_key(b"ana")),
        "but after keys before the first cookie"
    );
}

#[test]
fn a_minted_id_counts_where_no_cookie_is_a_key() {
    let proxy = with_keys(json!([{"header": "x-user"}]));
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    assert_eq!(proxy.got(&get("/").cookie("__Host-canary-id", &id)), is("v2", "hash"));
}

#[test]
fn a_forged_or_foreign_minted_id_is_none() {
    let proxy = with_keys(json!([{"cookie": "S"}]));
    let id = proxy.sign(&Seal::id(identity_on(true), NOW));
    let pin = Proxy::session().pin("v2", 2, NOW);
    let edited = id.replacen(&identity_on(true).to_string(), &identity_on(false).to_string(), 1);
    for forged in [
        edited.as_str(),
        &id[..id.len() - 1],
        &pin,
        &pin.replacen("p1", "i1", 1),
        "i1",
        "",
        "0123456789abcdef",
    ] {
        let visit = get("/").cookie("S", &key_on(false)).cookie("__Host-canary-id", forged);
        assert_eq!(proxy.got(&visit), is("v1", "hash"), "{forged}");
    }
}

#[test]
fn a_keyed_identity_is_not_the_plain_one() {
    let proxy = with_keys(json!([{"header": "x-user"}])).with("identity", json!("keyed"));
    let proxy = proxy.with_proxy("identityKey", json!("000102030405060708090a0b0c0d0e0f"));
    let found = identity(&proxy, &get("/").header("x-user", "ana@example.com"));
    assert_eq!(found.unwrap().to_string(), "0109060ebcee4844", "the README's worked number");
}
