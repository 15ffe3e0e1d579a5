//! `canary-ctl` and its operations in front of a real API server with Istio's kinds: writes, rights, field owners, faults.
//!
//! There is no Istio, no node and no pod, so the program needs no root; the server starts in seconds and serves all tests.
#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod apply;
mod attacks;
mod controller;
mod faults;
mod gitops;
mod pause;
mod resource;
mod role_changes;
mod routes;
mod virtual_service;

use mesh_lab::{Account, Kubernetes};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::time::timeout;

/// Fails a test whose operation never ends, and not the whole run.
const TEST_TIMEOUT: Duration = Duration::from_mins(5);

/// The API server while a test has it.
static SERVER: Mutex<Weak<Kubernetes>> = Mutex::new(Weak::new());

/// Runs a test beside the API server, which starts with the first and ends with the last of the tests that run at the
/// same time.
fn beside_an_api_server<T: Send>(test: impl AsyncFnOnce(&Kubernetes) -> T + Send) -> T {
    let server = server();
    server
        .run(async |api: &Kubernetes| timeout(TEST_TIMEOUT, test(api)).await.expect("the test ends in time"))
}

fn server() -> Arc<Kubernetes> {
    let mut shared = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return server;
    }
    let server = Kubernetes::start(&accounts()).map_err(|error| error.to_string()).expect("an API server");
    let server = Arc::new(server);
    *shared = Arc::downgrade(&server);
    server
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
        "restricted-attacker",
        "restricted-operator",
        "restricted-climber",
    ]
    .map(|name| account(name, &[]));
    [vec![account("bob", &["system:masters"])], limited.to_vec()].concat()
}
