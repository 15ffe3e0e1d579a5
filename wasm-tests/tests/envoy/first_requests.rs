//! A browser opens a page and requests all its parts at once: several responses open sessions, pin and mint, and arrive
//! in any order. The cookies that remain in the jar must be consistent.

use std::time::Duration;

use browser::{Kind, User, Visit};
use tokio::task::JoinSet;
use wasm_tests::scenario::Document;

use crate::support::{home, in_every_world, pinned_version, session, version};

const USERS: usize = 60;

#[tokio::test]
async fn session_and_pin_agree_whatever_the_order_of_eight_first_responses() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |fixture| async move {
        let mut running = JoinSet::new();
        for user in fixture.users(USERS) {
            running.spawn(eight_at_once(user));
        }
        let versions = running.join_all().await;
        let on_canary = versions.iter().filter(|version| *version == "v2").count();
        assert!((1..USERS).contains(&on_canary), "{on_canary} of {USERS} on the canary prove nothing");
    })
    .await;
}

async fn eight_at_once(mut user: User) -> String {
    let parts = [
        (Kind::Navigate, "/"),
        (Kind::Fetch, "/cart/add?item=tea"),
        (Kind::Navigate, "/"),
        (Kind::Fetch, "/landing?session=1"),
        (Kind::Fetch, "/static/app.js"),
        (Kind::Fetch, "/"),
        (Kind::Fetch, "/api/ping"),
        (Kind::Navigate, "/landing?session=1"),
    ];
    let late = |(kind, path)| {
        let delay = fastrand::u64(0..120).to_string();
        Visit::new(kind, path).header("x-shop-delay-ms", delay)
    };
    let responses = user.send_at_once(&parts.map(late)).await;
    let statuses: Vec<_> =
        responses.iter().map(|response| response.as_ref().map(|response| response.status)).collect();
    assert!(statuses.iter().all(|status| matches!(status, Ok(200))), "{statuses:?}");
    assert!(user.jar.refused().is_empty(), "{:?}", user.jar.refused());
    let next = user.fetch("/cart").await.expect("a response");
    assert_eq!(session(&next), "known", "the pin led to {:?}, jar {:?}", home(&next), user.jar);
    assert_eq!(pinned_version(&user.jar).as_deref(), Some(version(&next)));
    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50))).await;
    let page = user.navigate("/").await.expect("a response");
    assert_eq!((session(&page), home(&page)), ("known", home(&next)));
    version(&next).to_owned()
}
