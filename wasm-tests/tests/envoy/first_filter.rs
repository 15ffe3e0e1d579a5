//! The first Wasm filter of an Envoy that runs already. Without V8 it ends Envoy 1.36 and 1.37 on processors with memory
//! protection keys; with the bootstrap that `canary-ctl` writes it ends none.

use std::path::Path;
use std::time::{Duration, Instant};

use envoy_kit::has_protection_keys;
use serde_json::Value;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, InitialConfig};

use crate::support::{on_every_envoy, version};

/// Envoys whose workers have no right to a protection key that V8 allocates after their start.
const IN_DANGER: [&str; 2] = ["1.36", "1.37"];

/// Seconds that a busy machine may take to compile the module; an idle one takes one.
const DEADLINE: Duration = Duration::from_mins(1);

fn begins_with_nothing(bootstrap: fn(&mut Value, &Path)) -> EnvoySetup {
    let document = Document::session("shop").with("/spec/weight", "100");
    EnvoySetup { initial_config: InitialConfig::Nothing, bootstrap, ..EnvoySetup::of([document]) }
}

/// Gives the running Envoy its configuration, and returns whether it answers with it; `false` when its process has ended.
async fn takes_its_first_filter(fixture: &mut EnvoyFixture) -> bool {
    let plan = fixture.environment.plan_of(fixture.environment.state().expect("a state")).expect("a plan");
    fixture.push(&plan.config, "first").expect("written");
    let begun = Instant::now();
    while fixture.envoy.is_running() {
        let response = fixture.user().navigate("/").await;
        if response.is_ok_and(|response| version(&response) == "v2") {
            return true;
        }
        assert!(begun.elapsed() < DEADLINE, "neither the filter nor an end: {}", fixture.envoy.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
async fn an_envoy_without_v8_ends_where_its_version_and_the_processor_make_it() {
    on_every_envoy(|binary, pods| async move {
        let without_v8 = |bootstrap: &mut Value, _: &Path| {
            let removed = bootstrap.as_object_mut().and_then(|fields| fields.remove("bootstrap_extensions"));
            assert!(removed.is_some(), "the bootstrap makes V8");
        };
        let mut fixture =
            EnvoyFixture::start(&binary, begins_with_nothing(without_v8), &pods).await.expect("a fixture");
        let ends = IN_DANGER.contains(&binary.minor) && has_protection_keys();
        let lives = takes_its_first_filter(&mut fixture).await;
        let log = fixture.envoy.log();
        assert_eq!(
            (lives, log.contains("Caught Segmentation fault")),
            (!ends, ends),
            "Envoy {} (takes the filter, ends by SIGSEGV)",
            binary.minor
        );
    })
    .await;
    println!("protection keys: {}", has_protection_keys());
}

#[tokio::test]
async fn an_envoy_with_our_bootstrap_takes_its_first_filter_as_it_runs() {
    on_every_envoy(|binary, pods| async move {
        let mut fixture =
            EnvoyFixture::start(&binary, begins_with_nothing(|_, _| ()), &pods).await.expect("a fixture");
        assert!(
            takes_its_first_filter(&mut fixture).await,
            "Envoy {}: {}",
            binary.minor,
            fixture.envoy.log()
        );
    })
    .await;
}
