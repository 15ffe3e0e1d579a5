//! All pods of the canary are dead: one request fails, then all users are on stable, and pins are kept (promise 5).

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use browser::User;
use envoy_kit::{Admin, COUNTED_WITHIN, EnvoyError, Options, each_tested};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, Pods};
use wasm_tests::shop::Shop;

use crate::support::{SESSION_PIN, SHOP, on, shoppers, version};

const HEALTHY: &str = "cluster.shop/shop/v2.membership_healthy";
/// Counts from the first change of health in a cluster whose changes Envoy hands to its workers in batches.
const BATCHED: &str = "cluster_manager.update_out_of_merge_window";

#[tokio::test]
async fn a_dead_canary_costs_one_request_and_gets_its_users_back() {
    let mut pods = Pods::start().await.expect("pods start");
    let mut fixtures = Vec::new();
    for binary in each_tested().expect("every Envoy is installed") {
        // One worker: each learns for itself.
        let options = Options { concurrency: 1, ..Options::default() };
        let setup =
            EnvoySetup { options, ..EnvoySetup::of([Document::session("shop").with("/spec/weight", "100")]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        let users = shoppers(&fixture, 5).await;
        assert_eq!(on(&users, "v2"), 5);
        fixtures.push((fixture, users.into_iter().map(|(user, _)| user).collect::<Vec<_>>()));
    }
    let addresses = pods.kill_v2();
    for (fixture, users) in &mut fixtures {
        only_one_fails(fixture, users).await;
    }
    let begun = Instant::now();
    let _again = start_again(&addresses).await;
    for (fixture, users) in &mut fixtures {
        fixture.admin().wait_for(HEALTHY, 2, Duration::from_secs(10)).await.expect("healthy again");
        while version(&users[0].fetch("/cart").await.expect("a response")) != "v2" {
            assert!(begun.elapsed() < Duration::from_secs(20), "a version that is well again is used again");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        for user in users {
            assert_eq!(version(&user.navigate("/").await.expect("a response")), "v2");
        }
    }
    println!("back on the canary {:?} after its pods", begun.elapsed());
}

async fn only_one_fails(fixture: &EnvoyFixture, users: &mut [User]) {
    until_zero(fixture.admin(), HEALTHY).await.expect("Envoy notices");
    let batched = fixture.admin().counter(BATCHED).await.expect("a number");
    assert_eq!(batched, 0, "the worker knows what the main thread knows, not up to a second later");
    let first = users[0].navigate("/cart").await.expect("a response");
    assert_eq!((first.status, first.text().as_str()), (503, "no healthy upstream"));
    for user in users.iter_mut() {
        let pin = user.jar.get(SESSION_PIN).map(str::to_owned);
        for _ in 0..3 {
            let response = user.navigate("/cart").await.expect("a response");
            assert_eq!((response.status, version(&response)), (200, "v1"));
        }
        assert_eq!(user.jar.get(SESSION_PIN).map(str::to_owned), pin, "pins are kept");
    }
    for mut user in fixture.users(5) {
        let response = user.navigate("/").await.expect("a response");
        assert_eq!((response.status, version(&response)), (200, "v1"), "new users, too");
    }
    tokio::time::sleep(COUNTED_WITHIN).await;
    let labels = [("component", SHOP), ("tag", "v1/stable/unavailable")];
    let counted = fixture.admin().metric("canary_requests_total", &labels).await.expect("samples");
    assert!((counted - 20.0).abs() < f64::EPSILON, "{counted} requests with the reason `unavailable`");
}

async fn start_again(addresses: &[SocketAddr]) -> Vec<Shop> {
    let mut shops = Vec::new();
    for (address, pod) in addresses.iter().zip(["v2-a", "v2-b"]) {
        shops.push(Shop::start_at(*address, "v2", pod).await.expect("a pod"));
    }
    shops
}

async fn until_zero(admin: &Admin, name: &str) -> Result<(), EnvoyError> {
    let begun = Instant::now();
    while admin.counter(name).await? > 0 && begun.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
