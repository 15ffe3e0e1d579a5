//! What users get when the VM dies. Our module cannot trap by design, so one that does stands in for it, under the same
//! `failure_policy` and back-off, and without stripping anything: what is stripped here is stripped natively.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use browser::{Kind, User, Visit};
use envoy_kit::Options;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, InitialConfig};

use crate::support::{on_every_envoy, received, version};

const GUEST: &str = include_str!("../guests/crash.wat");

/// Headers that would lead to the canary if they reached the routes, in every spelling, and headers that the next hop
/// would trust.
const FORGED: [(&str, &str); 8] = [
    ("x-canary-version", "shop/shop/v2"),
    ("x_canary_version", "shop/shop/v2"),
    ("x-canary_version", "shop/shop/v2"),
    ("x_canary-version", "shop/shop/v2"),
    ("x-canary-id", "0000000000000000"),
    ("x_canary_id", "0000000000000000"),
    ("x-canary-cohort", "autumn=canary"),
    ("x_canary_cohort", "autumn=canary"),
];

/// A forged request was served by stable, and nothing of the forgery reached the application.
async fn forge(user: &mut User) -> u16 {
    let visit = FORGED
        .into_iter()
        .fold(Visit::new(Kind::Navigate, "/headers"), |visit, (name, value)| visit.header(name, value));
    let response = user.send(&visit).await.expect("a response");
    if response.status != 503 {
        assert_eq!((response.status, version(&response)), (200, "v1"));
        for (name, _) in FORGED {
            assert_eq!(received(&response, name), Vec::<String>::new(), "{name} reached the application");
        }
    }
    response.status
}

async fn crash(user: &mut User) {
    let visit = Visit::new(Kind::Navigate, "/").header("x-crash", "now");
    assert_eq!(user.send(&visit).await.expect("a response").status, 503, "the request that crashes the VM");
}

async fn fixture(
    binary: envoy_kit::EnvoyBinary,
    pods: &wasm_tests::scenario::Pods,
    module: PathBuf,
) -> EnvoyFixture {
    // One worker, so that every request meets the VM that died.
    let options = Options { concurrency: 1, ..Options::default() };
    let initial_config = InitialConfig::Module(module);
    let setup = EnvoySetup { initial_config, options, ..EnvoySetup::of([Document::session("shop")]) };
    EnvoyFixture::start(&binary, setup, pods).await.expect("a fixture")
}

#[tokio::test]
async fn a_crash_of_the_vm_costs_its_own_request_and_the_next_is_served() {
    on_every_envoy(|binary, pods| async move {
        let (_guest, module) = guest();
        let fixture = fixture(binary, &pods, module).await;
        let mut user = fixture.user();
        assert_eq!(forge(&mut user).await, 200);
        // The back-off counts from the last start of the VM.
        tokio::time::sleep(Duration::from_millis(300)).await;
        crash(&mut user).await;
        assert_eq!(forge(&mut user).await, 200, "the next request");
        let reloads = fixture.admin().counter("wasm.canary-assign.vm_reload_success").await;
        assert_eq!(reloads.expect("statistics"), 1);
    })
    .await;
}

#[tokio::test]
async fn crash_after_crash_is_503_at_worst_for_a_moment_and_nothing_forged_gets_through() {
    on_every_envoy(|binary, pods| async move {
        let (_guest, module) = guest();
        let fixture = fixture(binary, &pods, module).await;
        let mut user = fixture.user();
        let mut refused = 0;
        for _ in 0..5 {
            user.send(&Visit::new(Kind::Navigate, "/").header("x-crash", "now")).await.expect("a response");
            for _ in 0..10 {
                refused += u32::from(forge(&mut user).await == 503);
                // Long enough for requests before, during and after the reload.
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        }
        let begun = Instant::now();
        while forge(&mut user).await != 200 {
            assert!(begun.elapsed() < Duration::from_secs(20), "it heals by itself");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        println!("{refused} of 50 requests refused in back-off, healed after {:?}", begun.elapsed());
    })
    .await;
}

/// The module that traps, compiled into a folder of its own.
fn guest() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("crash.wasm");
    std::fs::write(&path, wat::parse_str(GUEST).expect("a guest")).expect("written");
    (directory, path)
}
