//! What a change of the configuration does: seen in Envoy's statistics, refused where it is broken, and without a drain.

use std::time::{Duration, Instant};

use assignment::Weight;
use serde_json::json;
use wasm_tests::scenario::{DisruptionCheck, Document, EnvoyFixture, EnvoySetup};

use crate::support::{SHOP, in_every_world, on_every_envoy, version};

const REJECTED: &str = "extension_config_discovery.http_filter.canary/assign.update_rejected";
const TIMEOUT: Duration = Duration::from_secs(10);

/// The gauge of a release's generation: its name has the installation.
fn generation_gauge(fixture: &EnvoyFixture, release: &str) -> String {
    let installed_at = fixture.config().expect("a configuration").releases[release].installed_at_seconds;
    assert!(installed_at > 0, "no time of installation");
    format!("wasmcustom.canary_generation.component.{release}.tag.{installed_at};.active")
}

async fn new_version(fixture: &EnvoyFixture) -> String {
    version(&fixture.user().navigate("/").await.expect("a response")).to_owned()
}

#[tokio::test]
async fn the_generation_that_the_workers_run_is_seen_in_the_statistics() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
        let mut times = Vec::new();
        for (generation, percent) in (2..).zip(["20", "40", "60", "80", "100"]) {
            times.push(fixture.weight(SHOP, percent).await.expect("the weight arrives"));
            assert_eq!(
                fixture.admin().counter(&generation_gauge(&fixture, SHOP)).await.expect("the gauge"),
                generation
            );
        }
        assert_eq!(new_version(&fixture).await, "v2");
        let labels = [("component", SHOP)];
        let active = fixture.admin().metric("canary_generation_active", &labels).await.expect("samples");
        assert!((active - 6.0).abs() < f64::EPSILON, "{active}");
        times.sort_unstable();
        println!("from the write to active: {times:?}");
        assert_eq!(disruption.changes().await.expect("statistics"), []);
    })
    .await;
}

#[tokio::test]
async fn a_broken_configuration_leaves_the_good_one_in_place_and_the_log_names_the_place() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
        assert_eq!(new_version(&fixture).await, "v2");
        let good = fixture.config().expect("a configuration");

        let mut two_stables = good.clone();
        let release = two_stables.releases.get_mut(SHOP).expect("the release");
        release.versions.clear();
        let mut no_host = good.clone();
        no_host.releases.get_mut(SHOP).expect("the release").hosts.clear();
        let broken = [
            ("not JSON at all".to_owned(), "line 1 column 2"),
            ("{\"format\": 2, \"releases\": {}}".to_owned(), "format"),
            (two_stables.to_json().expect("JSON"), "releases.shop/shop.versions"),
            (no_host.to_json().expect("JSON"), "releases.shop/shop.hosts"),
        ];
        for (index, (text, place)) in (1..).zip(broken) {
            fixture.push_text(&text, &format!("broken-{index}")).expect("written");
            fixture.admin().wait_for(REJECTED, index, TIMEOUT).await.expect("Envoy refuses it");
            let log = fixture.envoy.log();
            let mut latest_first = log.lines().rev();
            let said = latest_first.find(|line| line.contains("configuration refused, the old one stays"));
            assert!(said.is_some_and(|line| line.contains(place)), "expected {place}: {log}");
            assert_eq!(new_version(&fixture).await, "v2");
        }

        let mut next = good;
        let release = next.releases.get_mut(SHOP).expect("the release");
        (release.weight, release.generation) = (Weight::ZERO, 99);
        fixture.push(&next, "good").expect("written");
        fixture.admin().wait_for(&generation_gauge(&fixture, SHOP), 99, TIMEOUT).await.expect("it runs");
        assert_eq!(new_version(&fixture).await, "v1");
        assert_eq!(fixture.admin().counter("wasmcustom.canary_inert").await.expect("the gauge"), 0);
        assert_eq!(disruption.changes().await.expect("statistics"), []);
    })
    .await;
}

#[tokio::test]
async fn an_expired_canary_gets_no_new_sessions_and_keeps_its_own() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let mut all = crate::support::shoppers(&fixture, 3).await;
        assert_eq!(crate::support::on(&all, "v2"), 3);
        let mut ended = fixture.config().expect("a configuration");
        let release = ended.releases.get_mut(SHOP).expect("the release");
        let action = assignment::contract::ExpiryAction::Stop;
        let at_seconds = wasm_tests::scenario::now_seconds() + 1;
        release.until = Some(assignment::contract::Until { at_seconds, action });
        release.generation = 99;
        fixture.push(&ended, "ended").expect("written");
        fixture.admin().wait_for(&generation_gauge(&fixture, SHOP), 99, TIMEOUT).await.expect("it runs");
        tokio::time::sleep(Duration::from_millis(2_100)).await;
        assert_eq!(new_version(&fixture).await, "v1");
        crate::support::all_find_their_tea(&mut all).await;
    })
    .await;
}

/// The version that new users get at a path, asked until it is this one; every response on the way is a good one.
async fn wait_for_version(fixture: &EnvoyFixture, path: &str, expected: &str) {
    let begun = Instant::now();
    loop {
        let response = fixture.user().navigate(path).await.expect("a response");
        assert_eq!(response.status, 200, "{path}");
        let found = version(&response).to_owned();
        if found == expected {
            return;
        }
        assert!(begun.elapsed() < TIMEOUT, "expected {expected} at {path}, found {found}");
    }
}

#[tokio::test]
async fn a_release_that_is_taken_out_leaves_the_other_running_and_returns_above_its_generation() {
    on_every_envoy(|binary, pods| async move {
        let shop = Document::session("shop").with("/spec/weight", "100");
        let cart = Document::session("cart").with("/spec/paths", json!(["/cart"]));
        let setup = EnvoySetup::of([shop, cart]);
        let mut fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
        wait_for_version(&fixture, "/", "v2").await;
        wait_for_version(&fixture, "/cart", "v1").await;
        let before = generation_gauge(&fixture, "shop/cart");
        fixture.remove("shop/cart").await.expect("it is taken out");
        // The path is that of the other release now.
        wait_for_version(&fixture, "/cart", "v2").await;
        wait_for_version(&fixture, "/", "v2").await;
        // The gauge stays at 1 without the release: a wait for another generation 1 would end before the release is back.
        assert_eq!(fixture.admin().counter(&before).await.expect("the gauge"), 1);
        fixture.edit("shop/cart", |_| {}).await.expect("it is back");
        let after = generation_gauge(&fixture, "shop/cart");
        assert_eq!(fixture.admin().counter(&after).await.expect("the gauge"), 2);
        let response = fixture.user().navigate("/cart").await.expect("a response");
        assert_eq!(version(&response), "v1");
        assert_eq!(disruption.changes().await.expect("statistics"), []);
    })
    .await;
}
