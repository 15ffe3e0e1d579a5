//! Without a configuration, or with one that the filter refuses, all users are on stable and no request fails (promise
//! 5).

use std::time::{Duration, Instant};

use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, InitialConfig};

use crate::support::{SHOP, on_every_envoy, version};

const BROKEN: &str = "{\"format\": 1, \"releases\": {\"shop/shop\": {\"uid\": \"u\"}}}";

fn canary_for_all() -> Document {
    Document::session("shop").with("/spec/weight", "100")
}

async fn everyone_is_on_stable(fixture: &EnvoyFixture) {
    everyone_is_on(fixture, "v1").await;
}

async fn everyone_is_on(fixture: &EnvoyFixture, wanted: &str) {
    for mut user in fixture.users(10) {
        let response = user.navigate("/").await.expect("a response");
        assert_eq!((response.status, version(&response)), (200, wanted));
    }
}

/// A good configuration ends the doubt at once.
async fn a_good_one_works(fixture: &EnvoyFixture) {
    fixture.weight(SHOP, "100").await.expect("the weight arrives");
    assert_eq!(version(&fixture.user().navigate("/").await.expect("a response")), "v2");
}

#[tokio::test]
async fn a_missing_configuration_is_stable_for_everyone_until_one_comes() {
    on_every_envoy(|binary, pods| async move {
        let setup =
            EnvoySetup { initial_config: InitialConfig::Nothing, ..EnvoySetup::of([canary_for_all()]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        everyone_is_on_stable(&fixture).await;
        a_good_one_works(&fixture).await;
    })
    .await;
}

#[tokio::test]
async fn a_first_configuration_that_is_broken_is_stable_for_everyone_and_a_metric_says_so() {
    on_every_envoy(|binary, pods| async move {
        let setup =
            EnvoySetup { initial_config: InitialConfig::Text(BROKEN), ..EnvoySetup::of([canary_for_all()]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        everyone_is_on_stable(&fixture).await;
        let inert = fixture.admin().wait_for("wasmcustom.canary_inert", 1, Duration::from_secs(20)).await;
        assert_eq!(inert.expect("the gauge"), 1);
        let log = fixture.envoy.log();
        assert!(log.contains("no usable configuration yet") && log.contains("releases.shop/shop"), "{log}");
        a_good_one_works(&fixture).await;
        assert_eq!(fixture.admin().counter("wasmcustom.canary_inert").await.expect("the gauge"), 0);

        // Once more, now over a good one: Envoy has kept the filter's response to this text and does not ask again.
        fixture.push_text(BROKEN, "broken again").expect("written");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !fixture.envoy.log().contains("configuration not taken, the old one stays") {
            assert!(Instant::now() < deadline, "{}", fixture.envoy.log());
            everyone_is_on(&fixture, "v2").await;
        }
        everyone_is_on(&fixture, "v2").await;
        assert_eq!(fixture.admin().counter("wasmcustom.canary_inert").await.expect("the gauge"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_module_that_cannot_be_loaded_is_stable_for_everyone() {
    on_every_envoy(|binary, pods| async move {
        let initial_config = InitialConfig::Module("/no/such/module.wasm".into());
        let setup = EnvoySetup { initial_config, ..EnvoySetup::of([canary_for_all()]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        everyone_is_on_stable(&fixture).await;
    })
    .await;
}
