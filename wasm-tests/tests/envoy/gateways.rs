//! Two gateways whose configurations change at different times, and users whose requests go to one and the other.

use std::sync::Arc;

use browser::User;
use canary_release::config::SigningKeys;
use envoy_kit::EnvoyBinary;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, Pods};

use crate::support::{
    SHOP, all_find_their_tea, counted, home, on, on_every_envoy, pinned_version, session, shoppers, version,
};

type Shoppers = Vec<(User, (String, String))>;

async fn two(
    binary: &EnvoyBinary,
    pods: &Arc<Pods>,
    documents: [Document; 2],
) -> (EnvoyFixture, EnvoyFixture) {
    let keys = SigningKeys::draw().expect("randomness");
    let [one, other] =
        documents.map(|document| EnvoySetup { keys: Some(keys.clone()), ..EnvoySetup::of([document]) });
    let (one, other) =
        tokio::join!(EnvoyFixture::start(binary, one, pods), EnvoyFixture::start(binary, other, pods));
    (one.expect("a fixture"), other.expect("a fixture"))
}

/// All users send requests to one gateway, and then to the other.
async fn alternate(shoppers: &mut Shoppers, gateways: [&EnvoyFixture; 2]) {
    for gateway in gateways {
        for (user, _) in shoppers.iter_mut() {
            user.swap_connection(&mut gateway.connection());
        }
        all_find_their_tea(shoppers).await;
    }
}

#[tokio::test]
async fn no_user_of_two_gateways_flips_while_one_lags_behind_the_other() {
    on_every_envoy(|binary, pods| async move {
        let document = || Document::session("shop").with("/spec/weight", "50");
        let (mut one, mut other) = two(&binary, &pods, [document(), document()]).await;
        let mut all = shoppers(&one, 15).await;
        all.extend(shoppers(&other, 15).await);
        let on_canary = on(&all, "v2");
        assert!((1..30).contains(&on_canary), "{on_canary} of 30 users are on v2");
        for percent in ["0", "100"] {
            one.weight(SHOP, percent).await.expect("the weight arrives");
            alternate(&mut all, [&one, &other]).await;
            other.weight(SHOP, percent).await.expect("the weight arrives");
            alternate(&mut all, [&one, &other]).await;
        }
        let swap = |document: &mut Document| {
            document.set("/spec/versions/stable", "v2");
            document.set("/spec/versions/canary", "v1");
        };
        one.edit(SHOP, swap).await.expect("the roles arrive");
        alternate(&mut all, [&one, &other]).await;
        other.edit(SHOP, swap).await.expect("the roles arrive");
        alternate(&mut all, [&one, &other]).await;
    })
    .await;
}

#[tokio::test]
async fn a_pin_of_a_version_that_one_gateway_does_not_know_yet_survives_a_visit_there() {
    on_every_envoy(|binary, pods| async move {
        let ahead = Document::session("shop").with("/spec/weight", "100");
        let behind = Document::session("shop").with("/spec/versions/canary", serde_json::Value::Null);
        let (ahead, behind) = two(&binary, &pods, [ahead, behind]).await;
        let (mut user, begun) = shoppers(&ahead, 1).await.remove(0);
        user.swap_connection(&mut behind.connection());
        let response = user.fetch("/cart").await.expect("a response");
        assert_eq!((response.status, version(&response)), (200, "v1"), "stable, for want of anything better");
        assert_eq!(counted(&behind, "v1/stable/unknown").await, 1);
        assert_eq!(pinned_version(&user.jar).as_deref(), Some("v2"));
        user.swap_connection(&mut ahead.connection());
        let response = user.fetch("/cart").await.expect("a response");
        assert_eq!((session(&response), home(&response)), ("known", begun));
    })
    .await;
}
