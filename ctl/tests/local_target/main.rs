//! The local target with an Envoy that takes its files late or refuses them: order of the writes, waits, and the lock.

#![expect(clippy::unwrap_used, reason = "a panic is a test's failure, in its helpers too")]
#![expect(clippy::indexing_slicing, reason = "a file of another shape is a test's failure")]

mod fake_envoy;

use canary_ctl::local::{Environment, Error, Lock, wait_for_generation};
use canary_release::file;
use canary_release::spec::Release;
use fake_envoy::FakeEnvoy;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Longer than any wait of these tests on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

fn release(directory: &Path, admin: SocketAddr, canary: &str) -> Release {
    let text = format!(
        "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\nmetadata: {{name: shop, namespace: shop}}\nspec:\n  \
         service: {{name: shop, port: 80}}\n  versions: {{stable: v1, canary: {canary}}}\n  hosts: [shop.example.com]\n  \
         stickiness: user\n  identifyBy: [{{cookie: JSESSIONID}}]\n  cookies: {{tls: false}}\n  delivery:\n    \
         mode: local\n    module: filter.wasm\n    local:\n      directory: state\n      listen: 127.0.0.1:1\n      \
         admin: {admin}\n      endpoints: {{v1: [127.0.0.1:1], {canary}: [127.0.0.1:1]}}\n"
    );
    let path = directory.join("canary.yaml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(directory.join("filter.wasm"), b"\0asm").unwrap();
    file::load(&path).unwrap().release
}

/// The files of a release with the canary `v2`, and an Envoy that runs them.
async fn running() -> (TempDir, FakeEnvoy) {
    let directory = tempfile::tempdir().unwrap();
    let envoy = FakeEnvoy::start(&directory.path().join("state")).await;
    // Generated for another address, where no Envoy runs: all files are written before this one reads them.
    let unused = SocketAddr::from(([127, 0, 0, 1], 9));
    Environment::generate(&release(directory.path(), unused, "v2")).await.unwrap();
    (directory, envoy)
}

/// Writes the files of the same release with another canary, and waits until Envoy runs them.
async fn replace_canary(directory: &TempDir, envoy: &FakeEnvoy, canary: &str) -> Result<(), Error> {
    let release = release(directory.path(), envoy.admin, canary);
    let environment = Environment::of(&release)?;
    let plan = environment.plan(&release)?;
    let lock = Lock::take(environment.layout()).await?;
    let applied = environment.apply(&lock, &plan).await?;
    let (name, generation) = (release.name.to_string(), plan.generation(&release.name));
    wait_for_generation(&environment.admin(), &name, generation, applied.refusals, TIMEOUT).await.map(drop)
}

#[tokio::test]
async fn a_version_that_leaves_keeps_its_route_and_cluster_until_every_worker_ignores_it() {
    let (directory, envoy) = running().await;
    envoy.delay_filter(25);
    replace_canary(&directory, &envoy, "v3").await.unwrap();
    assert_eq!(envoy.violations(), Vec::<String>::new());
    for file in ["cds.yaml", "rds.yaml"] {
        let text = std::fs::read_to_string(directory.path().join("state").join(file)).unwrap();
        assert!(text.contains("shop/shop/v3") && !text.contains("shop/shop/v2"), "{file}: {text}");
    }
}

#[tokio::test]
async fn a_configuration_that_envoy_refuses_is_an_error_before_the_timeout() {
    let (directory, envoy) = running().await;
    envoy.refuse_filter();
    let refused = tokio::time::timeout(TIMEOUT / 2, replace_canary(&directory, &envoy, "v3")).await;
    let refused = refused.expect("an error before the timeout").unwrap_err();
    assert!(matches!(refused, Error::Refused { count: 1, .. }), "expected a refusal, found {refused:?}");
    assert_eq!(envoy.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_second_writer_waits_for_the_first() {
    let (directory, envoy) = running().await;
    let environment = Environment::of(&release(directory.path(), envoy.admin, "v2")).unwrap();
    let first = Lock::take(environment.layout()).await.unwrap();
    let layout = environment.layout().clone();
    let second = tokio::spawn(async move { Lock::take(&layout).await.map(drop) });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!second.is_finished(), "the lock was taken twice");
    drop(first);
    tokio::time::timeout(TIMEOUT, second).await.unwrap().unwrap().unwrap();
}
