//! Clients besides the shoppers: one whom every page fails for, sessions from before the rollout; and who ends the canary's pods.

use browser::{Kind, User, Visit};
use http::Method;
use mesh_lab::{Lab, LabError};
use mesh_studies::FAILING_USER;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;
use wasm_tests::scenario::HOST;

/// Sessions from before the rollout.
const OLDER_SESSIONS: usize = 40;
/// Between two requests of such a session, and of a client that tries again.
const PAUSE: Duration = Duration::from_millis(50);
/// How often the canary's pods end.
const CRASH_INTERVAL: Duration = Duration::from_secs(2);

fn user(gateway: SocketAddr) -> User {
    User::http1(gateway, HOST).as_if_tls()
}

/// A user of a version who is logged in, and whom every page fails for. Until a user is on that version it waits.
pub(crate) fn retry_loop(gateway: SocketAddr, version: &'static str) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let mut user = user(gateway);
            let page = user.navigate("/").await;
            if page.is_ok_and(|page| page.header("x-shop-version") == Some(version)) {
                let login =
                    Visit::new(Kind::Fetch, format!("/login?user={FAILING_USER}")).method(Method::POST);
                let mut response = user.send(&login).await;
                while response.is_ok_and(|response| response.header("x-shop-version") == Some(version)) {
                    sleep(PAUSE).await;
                    response = user.fetch("/cart").await;
                }
            }
            sleep(PAUSE).await;
        }
    });
    tasks
}

/// Sessions that begin now, before anybody is on the canary, and go on.
pub(crate) async fn older_sessions(gateway: SocketAddr) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for _ in 0..OLDER_SESSIONS {
        let mut user = user(gateway);
        // The first page may fail: then it has no session yet.
        while user.cookies_for("/").is_none_or(|cookies| !cookies.contains("JSESSIONID")) {
            let _refused = user.navigate("/cart/add?item=tea").await;
        }
        tasks.spawn(async move {
            loop {
                let _response = user.fetch("/cart").await;
                sleep(PAUSE).await;
            }
        });
    }
    tasks
}

/// Ends the canary's pods as a crash does: at once, without a word to anybody. Returns with an error alone.
pub(crate) async fn crashes(lab: &Lab, namespace: &str) -> LabError {
    loop {
        let selector = "-l=app=shop,version=v2";
        let delete =
            ["delete", "pod", "-n", namespace, selector, "--grace-period=0", "--force", "--wait=false"];
        if let Err(error) = lab.kubectl(&delete).await {
            return error;
        }
        sleep(CRASH_INTERVAL).await;
    }
}
