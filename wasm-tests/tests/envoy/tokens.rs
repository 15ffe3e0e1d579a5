//! Testers reach the canary at weight 0 with a token, and the application never sees it.

use browser::{Kind, Visit};
use wasm_tests::scenario::Document;

use crate::support::{PIN, SHOP, TOKEN, in_every_world, received, version};

const DAY: i64 = 24 * 3600;

#[tokio::test]
async fn a_valid_token_leads_to_the_canary_by_header_and_is_not_forwarded() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let token = fixture.signer(SHOP).expect("keys").token("v2", 1, DAY);
        let visit = Visit::new(Kind::Api, "/headers?x=1").header("x-canary-token", &token);
        let response = fixture.user().send(&visit).await.expect("a response");
        assert_eq!(version(&response), "v2");
        assert!(!response.text().contains(&token), "{}", response.text());
        assert_eq!(response.json()[":path"], "/headers?x=1");
    })
    .await;
}

#[tokio::test]
async fn a_valid_token_leads_to_the_canary_by_cookie_and_the_other_cookies_are_forwarded() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let token = fixture.signer(SHOP).expect("keys").token("v2", 1, DAY);
        let line = format!("theme=dark; {TOKEN}={token}; lang=en");
        let visit = Visit::new(Kind::Api, "/headers").header("cookie", line);
        let response = fixture.user().send(&visit).await.expect("a response");
        assert_eq!(version(&response), "v2");
        assert_eq!(received(&response, "cookie"), ["theme=dark; lang=en"]);
    })
    .await;
}

#[tokio::test]
async fn a_token_in_the_address_becomes_a_cookie_and_leaves_the_path() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let token = fixture.signer(SHOP).expect("keys").token("v2", 1, DAY);
        let mut tester = fixture.user();
        let first =
            tester.navigate(&format!("/headers?a=%20b&canary-token={token}&c=d")).await.expect("a response");
        assert_eq!(version(&first), "v2");
        assert_eq!(first.json()[":path"], "/headers?a=%20b&c=d");
        assert!(!first.text().contains(&token), "{}", first.text());
        assert_eq!(first.header("referrer-policy"), Some("no-referrer"));
        assert!(tester.jar.refused().is_empty(), "{:?}", tester.jar.refused());
        let later = tester.navigate("/").await.expect("a response");
        assert_eq!(version(&later), "v2", "by the cookie");
        assert_eq!(tester.jar.get(PIN), None, "a tester's visit leaves no pin behind");
        tester.jar.remove(TOKEN);
        assert_eq!(version(&tester.navigate("/").await.expect("a response")), "v1");
    })
    .await;
}

#[tokio::test]
async fn a_revoked_token_is_none() {
    let revoked = serde_json::json!({"mode": "token", "tokensNotBefore": "2100-01-01T00:00:00Z"});
    in_every_world(Document::session("shop").with("/spec/override", revoked), |fixture| async move {
        let token = fixture.signer(SHOP).expect("keys").token("v2", 1, DAY);
        let visit = Visit::new(Kind::Api, "/").header("x-canary-token", &token);
        assert_eq!(version(&fixture.user().send(&visit).await.expect("a response")), "v1");
    })
    .await;
}

#[tokio::test]
async fn an_open_release_believes_the_override_header() {
    in_every_world(Document::session("shop").with("/spec/override", "open"), |fixture| async move {
        for (asked, expected) in [("canary", "v2"), ("v2", "v2"), ("stable", "v1"), ("v9", "v1")] {
            let visit = Visit::new(Kind::Api, "/").header("x-canary-override", asked);
            assert_eq!(version(&fixture.user().send(&visit).await.expect("a response")), expected, "{asked}");
        }
    })
    .await;
}
