//! Users who log in, log out, stay away, or keep no cookies.

use std::time::Duration;

use browser::{Kind, Visit};
use http::Method;
use serde_json::json;
use wasm_tests::scenario::{Document, HOST};

use crate::support::{
    PIN, SESSION_PIN, SHOP, all_find_their_tea, field, home, in_every_world, on, pinned_version, session,
    shoppers, version,
};

fn login() -> Visit {
    Visit::new(Kind::Navigate, "/login?user=ada").method(Method::POST)
}

#[tokio::test]
async fn a_login_rotates_the_session_and_changes_neither_version_nor_pod_nor_cart() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |fixture| async move {
        let mut shoppers = shoppers(&fixture, 30).await;
        let on_canary = on(&shoppers, "v2");
        assert!((1..30).contains(&on_canary), "{on_canary} of 30 users are on v2");
        for (user, home_before) in &mut shoppers {
            let before = user.jar.get("JSESSIONID").map(str::to_owned);
            let response = user.send(&login()).await.expect("a response");
            assert_ne!(user.jar.get("JSESSIONID").map(str::to_owned), before, "the session id rotates");
            assert_eq!(&home(&response), home_before);
            assert_eq!(response.json()["cart"], json!(["tea"]));
        }
        for percent in ["100", "0"] {
            fixture.weight(SHOP, percent).await.expect("the weight arrives");
            all_find_their_tea(&mut shoppers).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_logout_ends_the_pin_with_the_session() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let mut shoppers = shoppers(&fixture, 3).await;
        assert_eq!(on(&shoppers, "v2"), 3);
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        for (user, _) in &mut shoppers {
            let logout = Visit::new(Kind::Navigate, "/logout").method(Method::POST);
            let response = user.send(&logout).await.expect("a response");
            assert_eq!((version(&response), session(&response)), ("v2", "known"));
            let left = ["JSESSIONID", SESSION_PIN, PIN].map(|name| user.jar.get(name));
            assert_eq!(left, [None, None, None]);
            let next = user.navigate("/").await.expect("a response");
            assert_eq!((version(&next), session(&next)), ("v1", "none"));
        }
    })
    .await;
}

#[tokio::test]
async fn an_aged_pin_holds_with_its_session_and_is_decided_anew_without() {
    let document = Document::session("shop").with("/spec/weight", "100").with("/spec/session/maxAge", "2s");
    in_every_world(document, |fixture| async move {
        let mut shoppers = shoppers(&fixture, 2).await;
        assert_eq!(on(&shoppers, "v2"), 2);
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        tokio::time::sleep(Duration::from_millis(3_200)).await;
        let [(with_session, home_before), (without, _)] = &mut shoppers[..] else { panic!("two shoppers") };

        let response = with_session.navigate("/cart").await.expect("a response");
        assert_eq!((session(&response), &home(&response)), ("known", &*home_before));

        // As of a session that was not seen to begin.
        let text = with_session.jar.get(SESSION_PIN).and_then(|pin| Some(pin.split_once('.')?.1.to_owned()));
        with_session.jar.remove(SESSION_PIN);
        with_session.jar.plant(PIN, &text.expect("a pin"), HOST);
        let response = with_session.navigate("/cart").await.expect("a response");
        assert_eq!((session(&response), &home(&response)), ("known", &*home_before));
        let issued = |pin: &str| field(pin, 5).parse::<u64>().expect("an issue time");
        let renewed = issued(with_session.jar.get(PIN).expect("a pin"));
        let old = issued(without.jar.get(SESSION_PIN).expect("a pin"));
        assert!(renewed >= old + 3, "renewed: {old} to {renewed}");

        without.jar.remove("JSESSIONID");
        let response = without.navigate("/").await.expect("a response");
        assert_eq!((version(&response), session(&response)), ("v1", "none"));
        assert_eq!(pinned_version(&without.jar).as_deref(), Some("v1"), "pinned with the new session");
    })
    .await;
}

#[tokio::test]
async fn a_pin_counts_on_requests_that_do_not_carry_the_session_cookie() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let (mut user, _) = shoppers(&fixture, 1).await.remove(0);
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        user.jar.remove("JSESSIONID");
        let script = user.fetch("/static/app.js").await.expect("a response");
        assert_eq!(version(&script), "v2");
    })
    .await;
}

#[tokio::test]
async fn a_client_without_cookies_sees_one_version_over_a_thousand_requests() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |fixture| async move {
        assert_eq!(versions_of_a_thousand(&mut fixture.user()).await, ["v1"], "stable is the fallback");
    })
    .await;
}

#[tokio::test]
async fn a_client_without_cookies_sees_one_version_by_its_address_where_the_release_says_so() {
    let document =
        Document::session("shop").with("/spec/fallback", "client-address").with("/spec/weight", "50");
    in_every_world(document, |fixture| async move {
        let at_half = versions_of_a_thousand(&mut fixture.user()).await;
        assert_eq!(at_half.len(), 1, "{at_half:?}");
        fixture.weight(SHOP, "100").await.expect("the weight arrives");
        assert_eq!(version(&fixture.user().api("/api/ping").await.expect("a response")), "v2");
    })
    .await;
}

async fn versions_of_a_thousand(client: &mut browser::User) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..1_000 {
        let response = client.api("/").await.expect("a response");
        assert_eq!(response.status, 200);
        seen.push(version(&response).to_owned());
    }
    seen.sort_unstable();
    seen.dedup();
    seen
}
