//! The rows of the table as they are explained, against a policy that was compiled from JSON.

use super::{ExplainContext, ExplainRequest, Explanation, explain};
use assignment::contract::FilterConfig;
use assignment::request::session_pin;
use assignment::seal::Seal;
use assignment::{Identity, Policy};
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;

fn config(edit: impl FnOnce(&mut Value)) -> Policy {
    let cookie = |name: &str| json!({"name": name});
    let mut release = json!({
        "uid": "abcdefghijkl", "generation": 1, "hosts": ["shop.example.com"], "salt": "shop/shop/v2",
        "stickiness": "session", "weight": 2_000, "sessionCookie": "JSESSIONID",
        "versions": [{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 2}],
        "identifyBy": [{"cookie": "JSESSIONID"}, {"jwt": {"claim": ["sub"]}}],
        "pin": {"cookie": cookie("__Host-canary-pin.shop.shop")},
        "override": {"mode": "token", "token": {"cookie": cookie("__Host-canary-token.shop.shop"), "query": "canary-token"}},
    });
    edit(&mut release);
    let config = json!({
        "format": 1,
        "keys": [{"id": "k1", "key": "30313233343536373839616263646566", "use": "sign"}],
        "releases": {"shop/shop": release},
    });
    Policy::compile(&FilterConfig::from_json_strict(config.to_string().as_bytes()).unwrap()).unwrap()
}

fn asked(headers: &[&str]) -> ExplainRequest {
    let mut asked = ExplainRequest::of_host("shop.example.com");
    for line in headers {
        asked.add_header_line(line).unwrap();
    }
    asked
}

fn explained(policy: &Policy, headers: &[&str]) -> Explanation {
    explain(policy, &asked(headers), &ExplainContext::at(NOW))
}

#[test]
fn a_host_of_no_release_is_row_one() {
    let explanation =
        explain(&config(|_| {}), &ExplainRequest::of_host("other.example.com"), &ExplainContext::at(NOW));
    assert_eq!((explanation.row, explanation.release, explanation.version), (Some(1), None, None));
}

#[test]
fn a_key_is_explained_with_bucket_and_the_weight_that_changes_it() {
    let policy = config(|release| release["stickiness"] = json!("user"));
    let explanation = explained(&policy, &["Cookie: JSESSIONID=4b1d7c0e5f"]);
    let release = policy.release(0).unwrap();
    let bucket = release.salt.bucket(Identity::of_key(b"4b1d7c0e5f"));
    assert_eq!(explanation.row, Some(6));
    assert_eq!(explanation.key.as_deref(), Some("cookie JSESSIONID"));
    assert_eq!(explanation.bucket, Some(bucket.number()));
    let expected = if bucket.number() < 2_000 { "v2" } else { "v1" };
    assert_eq!(explanation.version.as_deref(), Some(expected));
    assert_eq!(explanation.canary_from_percent, Some(f64::from(bucket.number() + 1) / 100.0));
    assert_eq!(explanation.weight_percent, Some(20.0));
}

#[test]
fn just_below_the_weight_that_it_names_the_response_is_stable_and_at_it_canary() {
    let at = |weight: u16| {
        config(|release| {
            release["stickiness"] = json!("user");
            release["weight"] = json!(weight);
        })
    };
    let bucket = explained(&at(0), &["Cookie: JSESSIONID=x"]).bucket.unwrap();
    let version = |weight| explained(&at(weight), &["Cookie: JSESSIONID=x"]).version.unwrap();
    assert_eq!((version(bucket), version(bucket + 1)), ("v1".to_owned(), "v2".to_owned()));
}

#[test]
fn a_session_older_than_the_filter_is_adopted_and_pinned_now() {
    let policy = config(|release| release["adopt"] = json!("v1"));
    let explanation = explained(&policy, &["Cookie: JSESSIONID=1"]);
    assert_eq!((explanation.row, explanation.version.as_deref()), (Some(5), Some("v1")));
    assert!(explanation.remembers[0].contains("pins v1 now"), "{:?}", explanation.remembers);
    assert_eq!(explanation.canary_from_percent, None);
    assert_eq!(
        explanation.notes,
        [
            "no weight changes this: a session stays where it began",
            "a session that begins now gets v2 with 20.00%, v1 with 80.00%, and stays there",
            "a session that began after the installation has the cookie canary-pin.shop.shop.s, too: with it this says its version",
        ]
    );
    for (weight, version) in [(0, "v1"), (10_000, "v2")] {
        let policy = config(|release| {
            release["adopt"] = json!("v1");
            release["weight"] = json!(weight);
        });
        let notes = explained(&policy, &["Cookie: JSESSIONID=1"]).notes;
        let said = format!("a session that begins now gets {version}, and stays there");
        assert!(notes.contains(&said), "{notes:?}");
    }
}

#[test]
fn the_pin_of_a_session_decides_for_that_session_alone() {
    let policy = config(|_| {});
    let pin = Seal::pin(b"v2", 2, Identity::from_random(7), NOW - 60);
    let value = session_pin(b"1", &policy.ring.sign("abcdefghijkl", &pin).unwrap());
    let said = "genuine, version v2 (epoch 2, live), 60 s old; it belongs to";
    for (session, row, owner) in [
        ("; JSESSIONID=1", 3, "this session"),
        ("; JSESSIONID=2", 6, "another session, so it counts as absent"),
        ("", 3, "a session whose cookie the request does not have"),
    ] {
        let explanation = explained(&policy, &[&format!("Cookie: canary-pin.shop.shop.s={value}{session}")]);
        assert_eq!(explanation.row, Some(row), "{session}");
        assert_eq!(explanation.carries[0].worth, format!("{said} {owner}"));
    }
}

#[test]
fn a_draw_is_a_chance_and_not_an_outcome() {
    let explanation = explained(&config(|_| {}), &["Sec-Fetch-Mode: navigate"]);
    assert_eq!((explanation.row, explanation.version), (Some(7), None));
    let chances: Vec<(String, f64)> =
        explanation.chances.into_iter().map(|chance| (chance.version, chance.percent)).collect();
    assert_eq!(chances, [("v2".to_owned(), 20.0), ("v1".to_owned(), 80.0)]);
    assert_eq!((explanation.identity, explanation.bucket), (None, None));
    let remembers = explanation.remembers;
    assert!(remembers.iter().any(|text| text.starts_with("__Host-canary-id: ")), "{remembers:?}");
}

#[test]
fn a_draw_that_can_only_end_one_way_is_an_outcome() {
    for (weight, version) in [(0, "v1"), (10_000, "v2")] {
        let policy = config(|release| release["weight"] = json!(weight));
        let explanation = explained(&policy, &["Accept: text/html"]);
        assert_eq!((explanation.version.as_deref(), explanation.chances.len()), (Some(version), 0));
    }
}

#[test]
fn a_genuine_pin_decides_and_a_forged_one_is_called_so() {
    let policy = config(|_| {});
    let pin = Seal::pin(b"v2", 2, Identity::from_random(7), NOW - 60);
    let text = policy.ring.sign("abcdefghijkl", &pin).unwrap();
    let line = format!("Cookie: __Host-canary-pin.shop.shop={text}; JSESSIONID=1");
    let explanation = explained(&policy, &[&line]);
    assert_eq!((explanation.row, explanation.version.as_deref()), (Some(3), Some("v2")));
    assert_eq!(explanation.carries[0].worth, "genuine, version v2 (epoch 2, live), 60 s old");
    let forged = line.replace(".v2.", ".v1.");
    let explanation = explained(&policy, &[&forged]);
    assert_eq!(explanation.row, Some(6));
    assert!(explanation.carries[0].worth.starts_with("not genuine"), "{:?}", explanation.carries);
}

#[test]
fn an_expired_token_is_called_so_and_does_not_count() {
    let policy = config(|_| {});
    let token = Seal::token(b"v2", 2, Identity::from_random(7), NOW - 60, NOW);
    let text = policy.ring.sign("abcdefghijkl", &token).unwrap();
    let explanation = explained(&policy, &[&format!("X-Canary-Token: {text}")]);
    assert_eq!(explanation.row, Some(8));
    assert!(explanation.carries[0].worth.ends_with(", expired"), "{:?}", explanation.carries);
}

#[test]
fn a_token_by_query_becomes_a_cookie() {
    let policy = config(|_| {});
    let token = Seal::token(b"v2", 2, Identity::from_random(7), NOW, NOW + 60);
    let text = policy.ring.sign("abcdefghijkl", &token).unwrap();
    let mut request = asked(&[]);
    request.set_path(&format!("/cart?canary-token={text}")).unwrap();
    let explanation = explain(&policy, &request, &ExplainContext::at(NOW));
    assert_eq!((explanation.row, explanation.version.as_deref()), (Some(2), Some("v2")));
    let remembers = explanation.remembers;
    assert!(remembers[0].starts_with("__Host-canary-token.shop.shop: "), "{remembers:?}");
}

#[test]
fn the_fallback_says_why_nothing_was_drawn() {
    let policy = config(|_| {});
    for (headers, expected) in [
        (vec!["Accept: */*"], "not a browser loading a page"),
        (vec!["Accept: text/html", "Authorization: Bearer x"], "keep no cookies"),
    ] {
        let explanation = explained(&policy, &headers);
        assert_eq!((explanation.row, explanation.version.as_deref()), (Some(8), Some("v1")));
        assert!(explanation.notes.iter().any(|note| note.contains(expected)), "{:?}", explanation.notes);
    }
}

#[test]
fn a_claim_and_an_address_come_from_the_arguments() {
    let policy = config(|release| release["fallback"] = json!("clientAddress"));
    let claims = vec!["sub=alice".parse().unwrap()];
    let by_claim = explain(&policy, &asked(&[]), &ExplainContext::at(NOW).with_claims(claims));
    assert_eq!(by_claim.key.as_deref(), Some("verified claim sub"));
    assert_eq!(by_claim.identity, Some(Identity::of_key(b"alice").to_string()));
    let client_address = Some("203.0.113.9".to_owned());
    let by_address =
        explain(&policy, &asked(&[]), &ExplainContext::at(NOW).with_client_address(client_address));
    assert_eq!((by_address.row, by_address.bucket.is_some()), (Some(8), true));
}

#[test]
fn forged_headers_are_named_as_removed() {
    let explanation = explained(&config(|_| {}), &["X-Canary-Version: shop/shop/v2", "X_Canary_Id: 1"]);
    assert_eq!(explanation.version.as_deref(), Some("v1"));
    let removed: Vec<&String> = explanation.notes.iter().filter(|note| note.contains("is removed")).collect();
    assert_eq!(removed.len(), 2);
}

#[test]
fn past_its_end_the_release_counts_as_weight_zero() {
    let policy = config(|release| release["until"] = json!({"atSeconds": NOW}));
    let explanation = explained(&policy, &["Sec-Fetch-Mode: navigate"]);
    assert_eq!((explanation.version.as_deref(), explanation.weight_percent), (Some("v1"), Some(0.0)));
    assert!(explanation.notes[0].contains("its weight of 20% counts as 0%"), "{:?}", explanation.notes);
}

#[test]
fn people_read_reason_version_and_weight() {
    let policy = config(|release| release["stickiness"] = json!("user"));
    let text = explained(&policy, &["Cookie: JSESSIONID=4b1d7c0e5f"]).to_string();
    assert!(text.starts_with("GET shop.example.com/\n  release   shop/shop\n  version   v"), "{text}");
    assert!(text.contains("\n  why       by bucket: "), "{text}");
    assert!(text.contains("% on, stable below"), "{text}");
}
