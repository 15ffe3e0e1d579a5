//! Nothing that a client can send leads to the canary at weight 0, behind a real gateway, while the filter's
//! configuration is missing and when it is active (promise 6); while it is missing all users are on stable (promise 5).

use browser::{Kind, Visit};
use canary_release::config::SigningKeys;
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Attempts;

use crate::support::{CONFIGURATION, arrived, in_the_mesh, with, without};

const UID: &str = "forgery-test";

#[test]
fn nothing_forged_reaches_the_canary_behind_the_oldest_envoy() {
    in_the_mesh(async |lab| nothing_forged_reaches_the_canary(lab, "forgery-oldest", "1.36").await);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn nothing_forged_reaches_the_canary_behind_the_newest_envoy() {
    in_the_mesh(async |lab| nothing_forged_reaches_the_canary(lab, "forgery-newest", "1.40").await);
}

async fn nothing_forged_reaches_the_canary(lab: &Lab, name: &str, envoy: &str) {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway_with(envoy)).await.unwrap();
    let release = env.release().unwrap().with("/spec/uid", UID).with("/spec/weight", "0");
    let keys = SigningKeys::read(&env.keys().unwrap()).unwrap();
    let attempts = Attempts::at(&release, &keys).unwrap();
    // The time that a gateway waits for its configuration, shortened for this test.
    let manifests = env
        .generate(&[&release], 1)
        .unwrap()
        .replace("initial_fetch_timeout: 30s", "initial_fetch_timeout: 1s");

    lab.apply(&without(&manifests, CONFIGURATION)).await.unwrap();
    lab.until("a gateway that removes the routing header", async || {
        let value = format!("{}/v2", release.name());
        let visit = Visit::new(Kind::Api, "/").header("x-canary-version", value);
        let response = env.user().send(&visit).await.ok()?;
        (response.header("x-shop-version") == Some("v1")).then_some(())
    })
    .await
    .unwrap();
    assert_eq!(attempts.send(env.gateway).await.unwrap(), Vec::<String>::new(), "without a configuration");
    let pod = env.gateway_pod(lab).await.unwrap();
    let decided = lab.proxy_metric(&env.ingress, &pod, "canary_requests_total", &[]).await.unwrap();
    assert!(decided < 1.0, "the filter had a configuration");

    lab.apply(&with(&manifests, CONFIGURATION)).await.unwrap();
    arrived(lab, &env, &release, 1).await;
    assert_eq!(attempts.send(env.gateway).await.unwrap(), Vec::<String>::new(), "with a configuration");
    println!("envoy {envoy}: {} attempts, each over HTTP/1.1 and HTTP/2, twice", attempts.count());
}
