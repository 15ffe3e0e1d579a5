//! Where the filter has no configuration, or none that it can use, everyone is on stable and nothing fails (promise 5).

use std::time::{Duration, Instant};

use wasm_tests::scenario::{BeginsWith, Document, Story, World};

use crate::support::{SHOP, on_every_envoy, version};

const BROKEN: &str = "{\"format\": 1, \"releases\": {\"shop/shop\": {\"uid\": \"u\"}}}";

fn canary_for_all() -> Document {
    Document::session("shop").with("/spec/weight", "100")
}

async fn everyone_is_on_stable(world: &World) {
    everyone_is_on(world, "v1").await;
}

async fn everyone_is_on(world: &World, wanted: &str) {
    for mut user in world.users(10) {
        let answer = user.navigate("/").await.expect("an answer");
        assert_eq!((answer.status, version(&answer)), (200, wanted));
    }
}

/// A good configuration ends the doubt at once.
async fn a_good_one_works(world: &World) {
    world.weight(SHOP, "100").await.expect("the weight arrives");
    assert_eq!(version(&world.user().navigate("/").await.expect("an answer")), "v2");
}

#[tokio::test]
async fn a_missing_configuration_is_stable_for_everyone_until_one_comes() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { begins_with: BeginsWith::Nothing, ..Story::of([canary_for_all()]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        everyone_is_on_stable(&world).await;
        a_good_one_works(&world).await;
    })
    .await;
}

#[tokio::test]
async fn a_first_configuration_that_is_broken_is_stable_for_everyone_and_a_metric_says_so() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { begins_with: BeginsWith::Text(BROKEN), ..Story::of([canary_for_all()]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        everyone_is_on_stable(&world).await;
        let inert = world.admin().wait_for("wasmcustom.canary_inert", 1, Duration::from_secs(5)).await;
        assert_eq!(inert.expect("the gauge"), 1);
        let log = world.envoy.log();
        assert!(log.contains("no usable configuration yet") && log.contains("releases.shop/shop"), "{log}");
        a_good_one_works(&world).await;
        assert_eq!(world.admin().counter("wasmcustom.canary_inert").await.expect("the gauge"), 0);

        // Once more, now over a good one: Envoy has kept the filter's answer to this text and does not ask again.
        world.push_text(BROKEN, "broken again").expect("written");
        let deadline = Instant::now() + Duration::from_secs(5);
        while !world.envoy.log().contains("configuration not taken, the old one stays") {
            assert!(Instant::now() < deadline, "{}", world.envoy.log());
            everyone_is_on(&world, "v2").await;
        }
        everyone_is_on(&world, "v2").await;
        assert_eq!(world.admin().counter("wasmcustom.canary_inert").await.expect("the gauge"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_module_that_cannot_be_loaded_is_stable_for_everyone() {
    on_every_envoy(|binary, pods| async move {
        let begins_with = BeginsWith::Module("/no/such/module.wasm".into());
        let story = Story { begins_with, ..Story::of([canary_for_all()]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        everyone_is_on_stable(&world).await;
    })
    .await;
}
