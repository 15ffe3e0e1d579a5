//! The gateway: users are routed by their session, and a weight arrives without a listener update.

use std::time::{Duration, Instant};

use crate::support::{UNDISTURBED, apply, counters, in_the_mesh};
use wasm_tests::client::{Answer, Heartbeat, Kind, User, Visit, WebSocket};
use wasm_tests::lab::{Lab, Stage, StageOptions};
use wasm_tests::scenario::HOST;
use wasm_tests::stats::{UNLIKELY, share_p_value};

/// Enough for both versions: none of either among them comes once in 2^79 runs.
const USERS: u64 = 80;

#[test]
fn users_keep_version_and_cart_behind_the_oldest_envoy() {
    in_the_mesh(async |lab| users_keep_their_version(lab, "oldest", "1.36").await);
}

#[test]
fn users_keep_version_and_cart_behind_the_newest_envoy() {
    in_the_mesh(async |lab| users_keep_their_version(lab, "newest", "1.40").await);
}

async fn users_keep_their_version(lab: &Lab, name: &str, envoy: &str) {
    let options = StageOptions { envoy: envoy.to_owned(), ..StageOptions::default() };
    let stage = Stage::set_up(lab, name, &options).await.unwrap();
    let release = stage.release().unwrap().with("/spec/weight", "50").with("/spec/podAffinity", "identity");
    apply(lab, &stage, &release, 1).await;

    let mut canaries = 0;
    for _ in 0..USERS {
        let mut user = stage.user();
        let first = user.navigate("/cart/add?item=tea").await.unwrap();
        let version = version(&first);
        canaries += u64::from(version == "v2");
        let again = user.fetch("/cart").await.unwrap();
        assert_eq!(self::version(&again), version);
        assert_eq!(again.header("x-shop-session"), Some("known"), "the cart is in the memory of one pod");
        for forged in ["shop/v1", "shop/v2", "v1", "v2"] {
            assert_eq!(self::version(&forge(&mut user, &stage, forged).await), version);
        }
    }
    assert!(share_p_value(canaries, USERS, 0.5) > UNLIKELY, "{canaries} of {USERS} users are on the canary");
}

#[test]
fn a_weight_arrives_without_a_listener_update_and_no_websocket_notices() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "weights", &StageOptions::default()).await.unwrap();
        let release = stage.release().unwrap().with("/spec/weight", "0");
        apply(lab, &stage, &release, 1).await;
        let socket = WebSocket::open(stage.gateway, HOST, "/ws", &[]).await.unwrap();
        let heartbeat = Heartbeat::start(socket, Duration::from_millis(50));
        let before = counters(lab, &stage, &UNDISTURBED).await;

        for (generation, weight) in [(2, "100"), (3, "0"), (4, "100")] {
            let start = Instant::now();
            apply(lab, &stage, &release.clone().with("/spec/weight", weight), generation).await;
            eprintln!("weight {weight}: active in the gateway {:?} after `generate` began", start.elapsed());
            let answer = stage.user().navigate("/").await.unwrap();
            assert_eq!(version(&answer), if weight == "0" { "v1" } else { "v2" });
        }

        assert_eq!(counters(lab, &stage, &UNDISTURBED).await, before);
        assert!(heartbeat.stop().await.unwrap() > 0);
    });
}

/// An answer to this user with a routing header that the user wrote.
async fn forge(user: &mut User, stage: &Stage, value: &str) -> Answer {
    let value = format!("{}/{value}", stage.namespace);
    user.send(&Visit::new(Kind::Fetch, "/cart").header("x-canary-version", value)).await.unwrap()
}

fn version(answer: &Answer) -> &str {
    answer.header("x-shop-version").unwrap_or_else(|| panic!("no shop answered: {answer:?}"))
}
