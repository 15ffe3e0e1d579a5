//! HTTP/1.1 with several cookie lines, HTTP/2, `WebSocket`s and streams: a pin counts however it comes.

use std::time::Duration;

use wasm_tests::client::{Kind, User, Visit, WebSocket, send_raw};
use wasm_tests::scenario::{Document, HOST, World};

use crate::support::{PIN, SHOP, all_find_their_tea, in_every_world, received, session, shoppers, version};

/// A world at weight 0, and a genuine pin for its canary.
fn pin(world: &World) -> String {
    world.forge(SHOP).expect("keys").pin("v2", 1)
}

#[tokio::test]
async fn a_pin_in_the_second_of_two_cookie_lines_counts() {
    in_every_world(Document::session("shop"), |world| async move {
        let pin = pin(&world);
        for lines in [
            format!("Cookie: a=1; b=2\r\nCookie: {PIN}={pin}\r\n"),
            format!("Cookie: a=1\r\ncookie: b=\u{fffd}\r\nCOOKIE: c=3; {PIN}={pin}\r\n"),
        ] {
            let request =
                format!("GET /headers HTTP/1.1\r\nHost: {HOST}\r\n{lines}Connection: close\r\n\r\n");
            let answer = send_raw(world.listener(), request.as_bytes(), Duration::from_secs(10)).await;
            let answer = answer.expect("an answer");
            assert_eq!((answer.status, answer.header("x-shop-version")), (200, Some(&b"v2"[..])), "{lines}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_applications_own_cookie_lines_are_left_as_they_are() {
    in_every_world(Document::session("shop"), |world| async move {
        let lines = ["a=1;b=2", "c=\"x y\"; a=3"];
        let visit = Visit::new(Kind::Api, "/headers").header("cookie", lines[0]).header("cookie", lines[1]);
        let answer = world.user().send(&visit).await.expect("an answer");
        assert_eq!(received(&answer, "cookie"), lines);
        let answer = world.user().navigate("/two-cookies").await.expect("an answer");
        let set = answer.set_cookies();
        assert!(set.iter().any(|line| line.starts_with("theme=")), "{set:?}");
        assert!(set.iter().any(|line| line.starts_with("JSESSIONID=")), "{set:?}");
        assert!(set.iter().any(|line| line.starts_with(PIN)), "{set:?}");
    })
    .await;
}

#[tokio::test]
async fn a_session_over_http2_stays_where_it_began() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |world| async move {
        let mut user = User::http2(world.listener(), HOST).as_if_tls();
        let begun = user.navigate("/cart/add?item=tea").await.expect("an answer");
        world.weight(SHOP, "0").await.expect("the weight arrives");
        for _ in 0..5 {
            let answer = user.fetch("/cart").await.expect("an answer");
            assert_eq!((version(&answer), session(&answer), answer.reopened), ("v2", "known", false));
            assert_eq!(answer.header("x-shop-pod"), begun.header("x-shop-pod"));
        }
        assert_eq!(version(&world.user().navigate("/").await.expect("an answer")), "v1");
    })
    .await;
}

#[tokio::test]
async fn a_websocket_goes_where_its_session_lives_and_outlives_weight_and_roles() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |mut world| async move {
        let mut all = shoppers(&world, 1).await;
        world.weight(SHOP, "0").await.expect("the weight arrives");
        let (user, (_, pod)) = &all[0];
        let cookies = user.cookies_for("/ws").expect("cookies");
        let opening = WebSocket::open(world.listener(), HOST, "/ws", &[("cookie", &cookies)]).await;
        let mut socket = opening.expect("a websocket");
        let expected = format!("v2/{pod}: ");
        assert!(socket.echo("one").await.expect("an echo").starts_with(&expected));
        world.weight(SHOP, "50").await.expect("the weight arrives");
        assert!(socket.echo("two").await.expect("an echo").starts_with(&expected));
        let swap = |document: &mut Document| {
            document.set("/spec/versions/stable", "v2");
            document.set("/spec/versions/canary", "v1");
        };
        world.edit(SHOP, swap).await.expect("the roles arrive");
        assert!(socket.echo("three").await.expect("an echo").starts_with(&expected));
        all_find_their_tea(&mut all).await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_lives_on_while_the_weight_changes() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |world| async move {
        let mut user = world.user();
        let stream = Visit::new(Kind::Navigate, "/stream?n=20&ms=50");
        let (answer, changed) = tokio::join!(user.send(&stream), async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            world.weight(SHOP, "0").await
        });
        changed.expect("the weight arrives");
        let answer = answer.expect("the whole stream");
        assert_eq!((answer.status, version(&answer), answer.text().lines().count()), (200, "v2", 20));
    })
    .await;
}
