//! HTTP/1.1 with several cookie lines, HTTP/2, `WebSocket`s and streams: a pin is valid in each of them.

use std::time::Duration;

use browser::{Kind, User, Visit, WebSocket, send_raw};
use wasm_tests::scenario::{Document, EnvoyFixture, HOST};

use crate::support::{
    PIN, SESSION_PIN, SHOP, all_find_their_tea, in_every_world, received, session, shoppers, version,
};

/// A fixture at weight 0, and a genuine pin for its canary.
fn pin(fixture: &EnvoyFixture) -> String {
    fixture.signer(SHOP).expect("keys").pin("v2", 1)
}

#[tokio::test]
async fn a_pin_in_the_second_of_two_cookie_lines_counts() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let pin = pin(&fixture);
        for lines in [
            format!("Cookie: a=1; b=2\r\nCookie: {PIN}={pin}\r\n"),
            format!("Cookie: a=1\r\ncookie: b=\u{fffd}\r\nCOOKIE: c=3; {PIN}={pin}\r\n"),
        ] {
            let request =
                format!("GET /headers HTTP/1.1\r\nHost: {HOST}\r\n{lines}Connection: close\r\n\r\n");
            let response = send_raw(fixture.listener(), request.as_bytes(), Duration::from_secs(10)).await;
            let response = response.expect("a response");
            assert_eq!(
                (response.status, response.header("x-shop-version")),
                (200, Some(&b"v2"[..])),
                "{lines}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn the_applications_own_cookie_lines_are_left_as_they_are() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let lines = ["a=1;b=2", "c=\"x y\"; a=3"];
        let visit = Visit::new(Kind::Api, "/headers").header("cookie", lines[0]).header("cookie", lines[1]);
        let response = fixture.user().send(&visit).await.expect("a response");
        assert_eq!(received(&response, "cookie"), lines);
        let response = fixture.user().navigate("/two-cookies").await.expect("a response");
        let set = response.set_cookies();
        assert!(set.iter().any(|line| line.starts_with("theme=")), "{set:?}");
        assert!(set.iter().any(|line| line.starts_with("JSESSIONID=")), "{set:?}");
        assert!(set.iter().any(|line| line.starts_with(SESSION_PIN)), "{set:?}");
    })
    .await;
}

#[tokio::test]
async fn a_session_over_http2_stays_where_it_began() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let mut user = User::http2(fixture.listener(), HOST).as_if_tls();
        let begun = user.navigate("/cart/add?item=tea").await.expect("a response");
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        for _ in 0..5 {
            let response = user.fetch("/cart").await.expect("a response");
            assert_eq!((version(&response), session(&response), response.reopened), ("v2", "known", false));
            assert_eq!(response.header("x-shop-pod"), begun.header("x-shop-pod"));
        }
        assert_eq!(version(&fixture.user().navigate("/").await.expect("a response")), "v1");
    })
    .await;
}

#[tokio::test]
async fn a_websocket_goes_where_its_session_lives_and_outlives_weight_and_roles() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |mut fixture| async move {
        let mut all = shoppers(&fixture, 1).await;
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        let (user, (_, pod)) = &all[0];
        let cookies = user.cookies_for("/ws").expect("cookies");
        let opening = WebSocket::open(fixture.listener(), HOST, "/ws", &[("cookie", &cookies)]).await;
        let mut socket = opening.expect("a websocket");
        let expected = format!("v2/{pod}: ");
        let echo = socket.echo("one").await.expect("an echo");
        assert!(echo.starts_with(&expected), "expected `{expected}`, found `{echo}`");
        fixture.weight(SHOP, "50").await.expect("the weight arrives");
        let echo = socket.echo("two").await.expect("an echo");
        assert!(echo.starts_with(&expected), "expected `{expected}`, found `{echo}`");
        let swap = |document: &mut Document| {
            document.set("/spec/versions/stable", "v2");
            document.set("/spec/versions/canary", "v1");
        };
        fixture.edit(SHOP, swap).await.expect("the roles arrive");
        let echo = socket.echo("three").await.expect("an echo");
        assert!(echo.starts_with(&expected), "expected `{expected}`, found `{echo}`");
        all_find_their_tea(&mut all).await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_lives_on_while_the_weight_changes() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let mut user = fixture.user();
        let stream = Visit::new(Kind::Navigate, "/stream?n=20&ms=50");
        let (response, changed) = tokio::join!(user.send(&stream), async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            fixture.weight(SHOP, "0").await
        });
        changed.expect("the weight arrives");
        let response = response.expect("the whole stream");
        assert_eq!((response.status, version(&response), response.text().lines().count()), (200, "v2", 20));
    })
    .await;
}
