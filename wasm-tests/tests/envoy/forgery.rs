//! What a client can send to be somebody else or somewhere else: none of it leads to a canary at weight 0 (promise 6),
//! and where the filter is missing, inert or not installed, none of it is an error either (promise 5).

use canary_ctl::local::Filter;
use wasm_tests::client::{Kind, Visit, send_raw};
use wasm_tests::scenario::{Attempts, BeginsWith, Document, Story, World, received};

use crate::support::{PIN, SHOP, counted, in_every_world, on_every_envoy, version};

fn all_attempts(world: &World) -> Attempts {
    let keys = world.environment.keys().expect("keys");
    Attempts::at(SHOP, "shopzzzzzzzz", &keys.keys).expect("a ring")
}

async fn none_reaches_the_canary(world: &World, attempts: &Attempts) {
    let harm = attempts.send(world.listener()).await.expect("answers");
    assert_eq!(harm, Vec::<String>::new());
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_at_weight_0() {
    in_every_world(Document::session("shop"), |world| async move {
        let attempts = all_attempts(&world);
        none_reaches_the_canary(&world, &attempts).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_has_no_configuration() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { begins_with: BeginsWith::Nothing, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_where_the_filter_is_not_installed() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { filter: Filter::Absent, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_is_inert() {
    on_every_envoy(|binary, pods| async move {
        let begins_with = BeginsWith::Text("{\"format\": 1, \"releases\": 7}");
        let story = Story { begins_with, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn an_identity_header_does_not_choose_a_bucket() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |world| async move {
        let mut client = world.user();
        for number in 0..32_u64 {
            let chosen = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let visit = Visit::new(Kind::Api, "/headers").header("x-canary-id", &chosen);
            let answer = client.send(&visit).await.expect("an answer");
            assert_eq!(version(&answer), "v1", "without cookies everybody is on stable");
            assert!(!received(&answer, "x-canary-id").contains(&chosen));
        }
    })
    .await;
}

#[tokio::test]
async fn two_pins_that_contradict_each_other_lead_to_stable() {
    in_every_world(Document::session("shop"), |world| async move {
        let forge = world.forge(SHOP).expect("keys");
        let (one, other) = (forge.pin("v1", 1), forge.pin("v2", 1));
        let lines = format!(
            "GET /headers HTTP/1.1\r\nHost: shop.example.com\r\nCookie: {PIN}={other}\r\nCookie: {PIN}={one}\r\nConnection: close\r\n\r\n"
        );
        let answer = send_raw(world.listener(), lines.as_bytes(), std::time::Duration::from_secs(10)).await;
        assert_eq!(answer.expect("an answer").header("x-shop-version"), Some(&b"v1"[..]));
        assert_eq!(counted(&world, "v1/stable/conflict").await, 1);
    })
    .await;
}
