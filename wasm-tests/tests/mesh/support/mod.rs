//! The lab that all tests of this program share, and fixtures in it.

pub(crate) mod alert_receiver;
pub(crate) mod cli;
pub(crate) mod filter_source;
pub(crate) mod gateway_without_v8;
pub(crate) mod loaded_fixture;
pub(crate) mod metrics_api;
pub(crate) mod operator;
pub(crate) mod other_owner;
pub(crate) mod stream_probe;
pub(crate) mod timed_load;

pub(crate) use wasm_tests::api::{fault_proxy, kill, object_owner, rbac, release_fixture};

use std::sync::{Arc, Mutex, PoisonError, Weak};

use mesh_lab::{Account, Lab, Options};
use std::time::Duration;
use tokio::time::timeout;
use wasm_tests::mesh::{ShopEnv, delete_namespaces};
use wasm_tests::scenario::Document;

/// No test takes that long; an operation that never ends fails its test and not the whole run.
const TEST_TIMEOUT: Duration = Duration::from_mins(10);

/// The lab while a test has it.
static LAB: Mutex<Weak<Lab>> = Mutex::new(Weak::new());

/// Runs a test in the lab, which starts with the first and ends with the last of the tests that run at the same time.
///
/// Fails if a proxy crashed meanwhile: its container is restarted, so nothing else would show it.
pub(crate) fn in_the_mesh<T: Send>(test: impl AsyncFnOnce(&Lab) -> T + Send) -> T {
    let lab = lab();
    run(&lab, test)
}

/// The same in a lab of its own, for a test that takes something away which others need.
pub(crate) fn in_a_mesh_of_its_own<T: Send>(test: impl AsyncFnOnce(&Lab) -> T + Send) -> T {
    let lab = Lab::start(Options::default()).map_err(|error| error.to_string()).expect("a lab");
    run(&lab, test)
}

fn run<T: Send>(lab: &Lab, test: impl AsyncFnOnce(&Lab) -> T + Send) -> T {
    let done = lab.run(async |lab: &Lab| {
        let done = timeout(TEST_TIMEOUT, test(lab)).await.expect("the test ends in time");
        delete_namespaces(lab)
            .await
            .map_err(|error| error.to_string())
            .expect("the namespaces of the test go");
        done
    });
    let restarted = lab.restarted_proxies();
    assert!(restarted.is_empty(), "proxies that no test ended (log: exit code): {restarted:?}");
    done
}

fn lab() -> Arc<Lab> {
    let mut shared = LAB.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lab) = shared.upgrade() {
        return lab;
    }
    // Its own text, not its fields: logs have lines.
    let settings = crate::position::policies::settings();
    let mut images = crate::twins::walks::images();
    images.insert("canary-ctl".to_owned(), crate::container_image::image());
    let options = Options { settings, accounts: accounts(), images };
    let lab = Arc::new(Lab::start(options).map_err(|error| error.to_string()).expect("a lab"));
    *shared = Arc::downgrade(&lab);
    lab
}

/// Accounts besides `admin`: one with all rights, too, and those with the rights that a test gives them.
fn accounts() -> Vec<Account> {
    let account = |name: &str, groups: &[&str]| Account {
        name: name.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
    };
    let limited = [
        "restricted",
        "restricted-editor",
        "restricted-too",
        "restricted-preparer",
        "restricted-forwarder",
        "restricted-adopter",
        "restricted-controller",
        "restricted-blind",
        "restricted-doctor",
    ]
    .map(|name| account(name, &[]));
    [vec![account("bob", &["system:masters"])], limited.to_vec()].concat()
}

/// Moved by whatever arrives by LDS, and so before every drain.
pub(crate) const UNDISTURBED: [&str; 4] = [
    "envoy_listener_manager_listener_added",
    "envoy_listener_manager_listener_modified",
    "envoy_listener_manager_listener_removed",
    "envoy_listener_manager_listener_in_place_updated",
];

/// Applies what `canary-ctl generate` prints for this release, and returns when the gateway runs it and answers.
pub(crate) async fn apply(lab: &Lab, env: &ShopEnv, release: &Document, generation: u64) {
    let manifests = env.generate(&[release], generation).unwrap();
    lab.apply(&manifests).await.unwrap();
    arrived(lab, env, release, generation).await;
}

/// Returns when the gateway runs this generation of a release of the shop, and answers.
pub(crate) async fn arrived(lab: &Lab, env: &ShopEnv, release: &Document, generation: u64) {
    let pod = env.gateway_pod(lab).await.unwrap();
    let release = [("component", release.name())];
    lab.until(&format!("generation {generation} in {pod}"), async || {
        // Workers report what they run when they see a request, so they are given one.
        let answered = env.user().fetch("/").await.is_ok_and(|response| response.status == 200);
        let active = lab.proxy_metric(&env.ingress, &pod, "canary_generation_active", &release).await.ok()?;
        #[expect(clippy::cast_precision_loss, reason = "generations of tests are small")]
        (answered && active >= generation as f64).then_some(())
    })
    .await
    .unwrap();
}

/// Of the objects that `generate` prints, those in which this text occurs.
pub(crate) fn with(manifests: &str, text: &str) -> String {
    those(manifests, |object| object.contains(text))
}

/// Of the objects that `generate` prints, those in which this text does not occur.
pub(crate) fn without(manifests: &str, text: &str) -> String {
    those(manifests, |object| !object.contains(text))
}

fn those(manifests: &str, wanted: impl Fn(&str) -> bool) -> String {
    let objects: Vec<&str> = manifests.split("---\n").filter(|object| wanted(object)).collect();
    objects.join("---\n")
}

/// Marks the object that a weight changes, and no other.
pub(crate) const CONFIGURATION: &str = "applyTo: EXTENSION_CONFIG";

/// What these metrics of the gateway say now.
pub(crate) async fn counters<'n>(lab: &Lab, env: &ShopEnv, names: &[&'n str]) -> Vec<(&'n str, f64)> {
    let pod = env.gateway_pod(lab).await.unwrap();
    let samples = lab.proxy_stats(&env.ingress, &pod).await.unwrap();
    let value =
        |name: &str| samples.iter().filter(|sample| sample.is(name, &[])).map(|sample| sample.value).sum();
    names.iter().map(|name| (*name, value(name))).collect()
}
