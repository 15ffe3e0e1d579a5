//! An open fuse: new sessions get stable, and no other request is decided otherwise.

use crate::fixture::{NOW, Proxy, Visit, get, identity_on, is, key_on, page};
use assignment::seal::Seal;
use canary_filter::fuse::user_of;
use serde_json::json;

fn with_fuse(proxy: Proxy, is_open: bool) -> Proxy {
    let mut proxy = proxy.with("fuse", json!(true));
    proxy.context.is_fused = is_open;
    proxy
}

#[test]
fn while_the_fuse_is_open_a_new_session_gets_stable_by_every_row_that_goes_by_the_bucket() {
    let by_address = |is_open| {
        let mut proxy = with_fuse(Proxy::session().with("fallback", json!("clientAddress")), is_open);
        proxy.context.address = Some(key_on(true).into_bytes());
        proxy
    };
    let minting = |is_open| {
        let mut proxy = with_fuse(Proxy::session(), is_open);
        proxy.context.draws(identity_on(true).as_u64());
        proxy
    };
    let key = get("/").cookie("S", &key_on(true));
    assert_eq!(with_fuse(Proxy::session(), false).got(&key), is("v2", "hash"));
    assert_eq!(with_fuse(Proxy::session(), true).got(&key), is("v1", "fused"));
    assert_eq!(minting(false).got(&page("/")), is("v2", "minted"));
    assert_eq!(minting(true).got(&page("/")), is("v1", "fused"));
    assert_eq!(by_address(false).got(&get("/")), is("v2", "fallback"));
    assert_eq!(by_address(true).got(&get("/")), is("v1", "fused"));
}

/// Else one client that keeps no cookies would be another user of stable with each request.
#[test]
fn an_identity_that_is_drawn_for_one_request_is_no_user() {
    let user_of = |proxy: &Proxy, visit: &Visit| {
        let decision = proxy.send(visit).state.unwrap().decision;
        (decision.reason.as_str(), decision.identity.is_some(), user_of(&decision).is_some())
    };
    let proxy = with_fuse(Proxy::session(), false);
    assert_eq!(user_of(&proxy, &get("/")), ("fallback", true, false));
    let [stable, canary] = [proxy.pin("v1", 1, NOW), proxy.pin("v2", 2, NOW)];
    let both = get("/").cookie("__Host-pin", &stable).cookie("__Host-pin", &canary);
    assert_eq!(user_of(&proxy, &both), ("conflict", true, false));
    assert_eq!(user_of(&proxy, &page("/")), ("minted", true, true));
    assert_eq!(user_of(&proxy, &get("/").cookie("S", &key_on(true))), ("hash", true, true));
    assert_eq!(user_of(&proxy, &get("/").cookie("__Host-pin", &canary)), ("pin", true, true));
    let mut by_address = with_fuse(Proxy::session().with("fallback", json!("clientAddress")), false);
    by_address.context.address = Some(key_on(true).into_bytes());
    assert_eq!(user_of(&by_address, &get("/")), ("fallback", true, true));
}

#[test]
fn who_is_on_stable_by_the_bucket_is_not_counted_as_fused() {
    let proxy = with_fuse(Proxy::session(), true);
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(false))), is("v1", "hash"));
}

#[test]
fn an_open_fuse_moves_no_session_no_tester_and_nobody_whom_the_edge_has_decided() {
    let proxy = with_fuse(Proxy::session().with("override", json!({"mode": "open"})), true);
    let pinned = get("/").cookie("S", "x").cookie("__Host-pin", &proxy.pin("v2", 2, NOW));
    assert_eq!(proxy.got(&pinned), is("v2", "pin"));
    assert_eq!(proxy.got(&get("/").header("x-canary-override", "canary")), is("v2", "override"));
    let mesh = with_fuse(Proxy::mesh(), true);
    assert_eq!(mesh.got(&get("/").header("x-canary-cohort", "autumn=canary")), is("v2", "cohort"));
}

#[test]
fn a_session_that_began_while_the_fuse_was_open_stays_on_stable_when_it_closes() {
    let open = with_fuse(Proxy::session(), true);
    let sent = open.send(&get("/").cookie("S", &key_on(true)));
    let response = sent.respond(&[("set-cookie", "S=opened"), ("cache-control", "no-store")]);
    let (version, epoch, identity, issued) = sent.pin_in(&response).unwrap();
    assert_eq!((version.as_str(), epoch), ("v1", 1));
    let closed = with_fuse(Proxy::session(), false);
    let pin = closed.sign(&Seal::pin(version.as_bytes(), epoch, identity, issued));
    let next = get("/").cookie("S", &key_on(true)).cookie("__Host-pin", &pin);
    assert_eq!(closed.got(&next), is("v1", "pin"));
}

#[test]
fn with_stickiness_user_the_users_of_the_canary_come_back_when_it_closes() {
    let key = get("/").cookie("S", &key_on(true));
    assert_eq!(with_fuse(Proxy::user(), true).got(&key), is("v1", "fused"));
    assert_eq!(with_fuse(Proxy::user(), false).got(&key), is("v2", "hash"));
}

#[test]
fn a_release_without_a_fuse_is_decided_as_ever() {
    let proxy = with_fuse(Proxy::session(), true).with("fuse", json!(false));
    assert_eq!(proxy.got(&get("/").cookie("S", &key_on(true))), is("v2", "hash"));
}
