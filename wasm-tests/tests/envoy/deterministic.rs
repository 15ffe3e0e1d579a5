//! The same user gets the same version in every proxy, and it is the one of the algorithm (promise 1).

use assignment::{Identity, Salt, Weight};
use browser::{Kind, Visit};
use serde_json::json;
use wasm_tests::scenario::Document;

use crate::support::{in_every_world, version};

#[tokio::test]
async fn every_envoy_agrees_with_the_algorithm_about_every_user() {
    let document = Document::user("shop")
        .with("/spec/weight", "33.33")
        .with("/spec/identifyBy", json!([{"header": "x-user"}]));
    in_every_world(document, |fixture| async move {
        let weight: Weight = "33.33".parse().expect("a weight");
        let salt = Salt::new("shop/shop/v2");
        let mut client = fixture.user();
        for number in 0..400 {
            let name = format!("user-{number}");
            let visit = Visit::new(Kind::Api, "/api/ping").header("x-user", &name);
            let response = client.send(&visit).await.expect("a response");
            let canary = salt.bucket(Identity::of_key(name.as_bytes())).is_canary_at(weight);
            assert_eq!(version(&response), if canary { "v2" } else { "v1" }, "{name}");
        }
    })
    .await;
}
