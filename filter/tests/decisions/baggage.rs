//! The second carrier: the edge's decision as a signed member of W3C baggage.

use crate::fixture::{Lines, NOW, Proxy, Visit, get, identity_on, is, key_on};
use assignment::decide::{MAX_BAGGAGE_AGE_SECONDS, MAX_CLOCK_SKEW_SECONDS};
use assignment::seal::{Seal, baggage_keys};
use serde_json::{Value, json};

fn edge() -> Proxy {
    Proxy::session().with("train", json!("autumn")).with_proxy("baggage", json!("canary"))
}

fn mesh() -> Proxy {
    inside(Proxy::mesh().with("salt", json!("another")))
}

/// A proxy inside the mesh has the derived keys only.
pub(crate) fn inside(proxy: Proxy) -> Proxy {
    let keys = serde_json::to_value(baggage_keys(&proxy.config().keys)).unwrap();
    proxy.with_proxy("baggage", json!("canary")).with_proxy("keys", keys)
}

/// The headers that the edge sends on for a user of this half.
fn carried(edge: &Proxy, canary: bool) -> String {
    sent(edge, &get("/").cookie("S", &key_on(canary))).get("baggage").unwrap()
}

/// A member that is genuine unless something about it is wrong.
fn member(cohort: &str, issued: u64) -> String {
    let seal = Seal::baggage(cohort.as_bytes(), None, identity_on(true), issued);
    format!("canary={}", edge().policy().baggage_ring.sign("", &seal).unwrap())
}

/// The headers that the next service gets.
fn sent(proxy: &Proxy, visit: &Visit) -> Lines {
    proxy.send(visit).headers
}

fn with(baggage: impl AsRef<[u8]>) -> Visit {
    get("/").header("baggage", baggage)
}

#[test]
fn a_service_that_gets_only_the_baggage_decides_as_the_edge_did() {
    for (canary, version) in [(true, "v2"), (false, "v1")] {
        assert_eq!(mesh().got(&with(carried(&edge(), canary))), is(version, "cohort"));
    }
    assert_eq!(mesh().got(&get("/")), is("v1", "fallback"), "without it nothing is known");
}

#[test]
fn a_tester_is_a_tester_in_the_next_service_too() {
    let open = edge().with("override", json!({"mode": "open"})).with("weight", json!(0));
    let got = sent(&open, &get("/").header("x-canary-override", "canary"));
    assert_eq!(mesh().got(&with(got.get("baggage").unwrap())), is("v2", "override"));
}

#[test]
fn it_has_no_character_that_a_library_would_encode() {
    let text = carried(&edge(), true);
    let (key, value) = text.split_once('=').unwrap();
    assert_eq!(key, "canary");
    assert!(value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)), "{value}");
}

#[test]
fn the_members_of_others_keep_their_bytes_and_ours_comes_last() {
    let visit = get("/").cookie("S", &key_on(true));
    let got = sent(&edge(), &visit.clone().header("baggage", " a = 1 ;p=%20,b=2"));
    let line = got.get("baggage").unwrap();
    assert!(line.starts_with(" a = 1 ;p=%20,b=2,canary=b1.k1.autumn.canary.0."), "{line}");
    let lines = visit.header("baggage", "a=1").header("baggage", b"b=\xff, c=3");
    let got = sent(&edge(), &lines);
    let line = got.get("baggage").unwrap();
    assert!(line.starts_with("a=1,b=\u{fffd}, c=3,canary=b1."), "{line}");
}

#[test]
fn what_a_client_sends_under_our_key_is_removed_from_every_line() {
    let forged = |visit: Visit| {
        visit
            .header("baggage", "a=1, canary=x ;p")
            .header("baggage", "canary=y")
            .header("baggage", "canary =z,b=2")
    };
    let got = sent(&edge(), &forged(get("/").cookie("S", &key_on(false))));
    let line = got.get("baggage").unwrap();
    assert!(line.starts_with("a=1,b=2,canary=b1.k1.autumn.stable."), "{line}");
    let elsewhere = sent(&edge(), &forged(get("/").instead(":authority", "other.example")));
    assert_eq!(elsewhere.get("baggage").as_deref(), Some("a=1,b=2"), "also where no release matches");
    let alone = sent(&edge(), &with("canary=x").instead(":authority", "other.example"));
    assert_eq!(alone.get("baggage"), None);
    let outside = sent(&edge().with("train", Value::Null), &forged(get("/").cookie("S", &key_on(false))));
    assert_eq!(outside.get("baggage").as_deref(), Some("a=1,b=2"), "also for a release outside a train");
}

#[test]
fn baggage_without_our_key_passes_line_by_line_where_we_have_nothing_to_say() {
    let visit = with("a=1").header("baggage", "canary-two=2").instead(":authority", "other.example");
    assert_eq!(sent(&edge(), &visit).all("baggage"), ["a=1", "canary-two=2"]);
}

#[test]
fn nothing_is_read_written_or_removed_where_the_proxy_does_not_use_it() {
    let edge = edge().with_proxy("baggage", Value::Null);
    let got = sent(&edge, &with("canary=x").cookie("S", &key_on(true)));
    assert_eq!(got.get("baggage").as_deref(), Some("canary=x"));
    let mesh = mesh().with_proxy("baggage", Value::Null);
    assert_eq!(mesh.got(&with(member("autumn.canary", NOW))), is("v1", "fallback"));
}

#[test]
fn the_header_wins() {
    let visit = with(member("autumn.canary", NOW)).header("x-canary-cohort", "autumn=stable");
    assert_eq!(mesh().got(&visit), is("v1", "cohort"));
    let identity = identity_on(false).to_string();
    let alone = inside(Proxy::mesh().with("train", Value::Null));
    assert_eq!(alone.got(&with(member("autumn.canary", NOW))), is("v2", "hash"), "the identity is a key");
    assert_eq!(
        alone.got(&with(member("autumn.canary", NOW)).header("x-canary-id", identity)),
        is("v1", "hash")
    );
}

#[test]
fn nothing_forged_foreign_edited_late_or_of_another_train_counts() {
    let genuine = member("autumn.canary", NOW);
    assert_eq!(mesh().got(&with(&genuine)), is("v2", "cohort"));
    let by_the_edges_own_key = Seal::baggage(b"autumn.canary", None, identity_on(true), NOW);
    let pin = mesh().sign(&Seal::pin(b"autumn.canary", 0, identity_on(true), NOW));
    for forged in [
        genuine.replace("canary.0", "canary.1"),
        genuine.replace("b1.", "p1."),
        format!("canary={pin}"),
        format!("canary={}", pin.replacen('p', "b", 1)),
        format!("canary={}", edge().sign(&by_the_edges_own_key)),
        "canary=autumn.canary".to_owned(),
        "canary=".to_owned(),
        member("autumn.canary", NOW - MAX_BAGGAGE_AGE_SECONDS - 1),
    ] {
        assert_eq!(mesh().got(&with(&forged)).1, "fallback", "{forged}");
    }
    assert_eq!(
        mesh().got(&with(member("spring.canary", NOW))).1,
        "hash",
        "another train's names the user only"
    );
}

/// A gateway whose clock is ahead writes members that would otherwise live until then, and an hour more.
#[test]
fn a_member_issued_more_than_5_minutes_ahead_is_none() {
    for (ahead, expected) in [
        (1, is("v2", "cohort")),
        (MAX_CLOCK_SKEW_SECONDS, is("v2", "cohort")),
        (MAX_CLOCK_SKEW_SECONDS + 1, is("v1", "fallback")),
        (1_000_000, is("v1", "fallback")),
        (u64::MAX - NOW, is("v1", "fallback")),
    ] {
        let issued = NOW + ahead;
        assert_eq!(mesh().got(&with(member("autumn.canary", issued))), expected, "{ahead} s ahead");
    }
    let line = format!("{},{}", member("autumn.stable", NOW + 1_000_000), member("autumn.canary", NOW));
    assert_eq!(mesh().got(&with(line)), is("v2", "cohort"), "one that is none contradicts nothing");
}

#[test]
fn genuine_members_that_contradict_each_other_are_none() {
    let one = member("autumn.canary", NOW);
    let same = format!("{one},{}", member("autumn.canary", NOW - 5));
    assert_eq!(mesh().got(&with(same)), is("v2", "cohort"), "they differ in their age only");
    let two = with(&one).header("baggage", member("autumn.stable", NOW));
    assert_eq!(mesh().got(&two).1, "fallback");
}

#[test]
fn at_the_edge_it_decides_nothing() {
    let visit = with(member("autumn.canary", NOW)).cookie("S", &key_on(false));
    assert_eq!(edge().got(&visit), is("v1", "hash"));
}

#[test]
fn with_session_affinity_the_identity_header_is_written_from_baggage_alone() {
    let got = sent(&mesh(), &with(member("autumn.canary", NOW)));
    assert_eq!(got.get("x-canary-id"), Some(identity_on(true).to_string()));
}
