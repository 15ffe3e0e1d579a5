//! Several releases on one host, found by their path prefixes: a train agrees about every user, others draw their own.

use browser::{Kind, Visit};
use serde_json::json;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup};

use crate::support::{ID, on_every_envoy, received, version};

/// The whole site and its carts in one train, and a release of its own for `/headers`.
fn documents() -> [Document; 3] {
    let train = |name: &str, path: &str| {
        Document::user(name)
            .with("/spec/paths", json!([path]))
            .with("/spec/train", "autumn")
            .with("/spec/salt", "autumn")
            .with("/spec/weight", "50")
    };
    let alone = Document::user("alone").with("/spec/paths", json!(["/api"])).with("/spec/weight", "50");
    [train("web", "/"), train("cart", "/cart"), alone]
}

#[tokio::test]
async fn releases_of_a_train_agree_about_every_user_and_another_release_draws_its_own() {
    on_every_envoy(|binary, pods| async move {
        let fixture =
            EnvoyFixture::start(&binary, EnvoySetup::of(documents()), &pods).await.expect("a fixture");
        let mut others = 0;
        let mut on_canary = 0;
        for mut user in fixture.users(60) {
            let web = user.navigate("/").await.expect("a response");
            let id = user.jar.get(ID).map(str::to_owned).expect("one id for the host");
            let cart = user.navigate("/cart").await.expect("a response");
            let alone = user.navigate("/api/ping").await.expect("a response");
            assert_eq!(user.jar.get(ID), Some(id.as_str()), "one id for all releases");
            assert_eq!(version(&web), version(&cart), "the train agrees");
            on_canary += usize::from(version(&web) == "v2");
            others += usize::from(version(&web) != version(&alone));
        }
        assert!((1..60).contains(&on_canary), "{on_canary} of 60 on the canary");
        assert!((1..60).contains(&others), "{others} of 60 elsewhere: the draws are independent");
    })
    .await;
}

#[tokio::test]
async fn only_the_decision_of_the_train_is_propagated_to_the_next_hop() {
    on_every_envoy(|binary, pods| async move {
        let in_train = Document::user("web").with("/spec/train", "autumn").with("/spec/weight", "100");
        let fixture =
            EnvoyFixture::start(&binary, EnvoySetup::of([in_train]), &pods).await.expect("a fixture");
        let forged =
            Visit::new(Kind::Navigate, "/headers").header("x-canary-cohort", "autumn=stable, spring=canary");
        let response = fixture.user().send(&forged).await.expect("a response");
        assert_eq!(received(&response, "x-canary-cohort"), ["autumn=canary"]);
        assert_eq!(received(&response, "x-canary-version"), ["shop/web/v2"]);
        assert_eq!(received(&response, "x-canary-id").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn releases_of_one_host_have_weights_of_their_own() {
    on_every_envoy(|binary, pods| async move {
        let fixture =
            EnvoyFixture::start(&binary, EnvoySetup::of(documents()), &pods).await.expect("a fixture");
        fixture.weight("shop/cart", "100").await.expect("the weight arrives");
        fixture.weight("shop/web", "0").await.expect("the weight arrives");
        for mut user in fixture.users(10) {
            assert_eq!(version(&user.navigate("/").await.expect("a response")), "v1");
            assert_eq!(version(&user.navigate("/cart").await.expect("a response")), "v2");
        }
    })
    .await;
}
#[tokio::test]
async fn a_session_that_two_releases_share_moves_in_neither() {
    on_every_envoy(|binary, pods| async move {
        let web = Document::session("web").with("/spec/weight", "50");
        let cart = Document::session("cart").with("/spec/paths", json!(["/cart"])).with("/spec/weight", "50");
        let [web, cart] = [web, cart].map(|document| document.with("/spec/salt", "one"));
        let fixture =
            EnvoyFixture::start(&binary, EnvoySetup::of([web, cart]), &pods).await.expect("a fixture");
        let mut users = fixture.users(20);
        let mut homes = Vec::new();
        for user in &mut users {
            user.navigate("/").await.expect("a response");
            let cart = user.navigate("/cart").await.expect("a response");
            homes.push(crate::support::home(&cart));
        }
        for percent in ["0", "100"] {
            fixture.weight("shop/cart", percent).await.expect("the weight arrives");
            for (user, home) in users.iter_mut().zip(&homes) {
                assert_eq!(&crate::support::home(&user.navigate("/cart").await.expect("a response")), home);
            }
        }
    })
    .await;
}
