//! Clients besides the shoppers, and who ends, replaces or stops the canary's pods.

use browser::{Kind, User, Visit};
use http::Method;
use mesh_lab::{Lab, LabError};
use mesh_studies::FAILING_USER;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use wasm_tests::scenario::HOST;

/// Sessions from before the rollout.
const OLDER_SESSIONS: usize = 40;
/// Between two requests of such a session, and of a client that tries again.
const PAUSE: Duration = Duration::from_millis(50);
/// Users who come back, and how many milliseconds later at least, and at most twice as many: the interval in which a weight changes is not
/// compared, and they have to come after it. A rollout that is held moves no further users.
const RETURNING_USERS: u64 = 200;
const RETURN: u64 = 8_000;
/// Clients who leave a page, and after what time: a proxy counts one that has waited for two to three seconds.
const LEAVING: usize = 100;
const LEFT_AFTER: Duration = Duration::from_millis(2_600);
/// Clients who wait for responses that take long, and who log in.
const POLLS: usize = 20;
const LOGINS: usize = 10;
/// How often the canary's pods are replaced.
const REPLACED: Duration = Duration::from_secs(6);
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

/// Users who began before the rollout, and whose requests come some seconds apart.
pub(crate) async fn returning_users(gateway: SocketAddr) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for number in 0..RETURNING_USERS {
        let mut user = user(gateway);
        let _page = user.navigate("/cart/add?item=tea").await;
        let pause = Duration::from_millis(RETURN + number * RETURN / RETURNING_USERS);
        tasks.spawn(async move {
            loop {
                let _response = user.fetch("/cart").await;
                sleep(pause).await;
            }
        });
    }
    tasks
}

/// So many clients, each of whom does the same again and again, every time as another user.
fn again<F, S>(count: usize, gateway: SocketAddr, session: F) -> JoinSet<()>
where
    F: Fn(User) -> S + Copy + Send + 'static,
    S: Future<Output = ()> + Send,
{
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        tasks.spawn(async move {
            loop {
                session(user(gateway)).await;
            }
        });
    }
    tasks
}

/// Clients who look at their cart, and leave the next page after 2.6 s.
pub(crate) fn leaving_clients(gateway: SocketAddr) -> JoinSet<()> {
    again(LEAVING, gateway, async |mut user| {
        let _page = user.navigate("/cart/add?item=tea").await;
        let _left = timeout(LEFT_AFTER, user.fetch("/slow?ms=20000")).await;
    })
}

/// Clients who wait for a response that takes longer than proxies wait.
pub(crate) fn long_polls(gateway: SocketAddr) -> JoinSet<()> {
    again(POLLS, gateway, async |mut user| {
        let _page = user.navigate("/cart/add?item=tea").await;
        let _response = user.fetch("/slow?ms=6000").await;
    })
}

/// Users who log in, twice where they are on the canary, and look at their cart.
pub(crate) fn logins(gateway: SocketAddr) -> JoinSet<()> {
    again(LOGINS, gateway, async |mut user| {
        let page = user.navigate("/").await;
        let is_canary = page.is_ok_and(|page| page.header("x-shop-version") == Some("v2"));
        for _ in 0..if is_canary { 2 } else { 1 } {
            let login = Visit::new(Kind::Fetch, "/login?user=ada").method(Method::POST);
            let _response = user.send(&login).await;
            let _response = user.fetch("/cart").await;
        }
    })
}

/// Scales the canary to eight pods, and adds one that pauses.
pub(crate) async fn pausing_pod(lab: &Lab, namespace: &str) -> Result<(), mesh_studies::Error> {
    lab.scale(namespace, "shop-v2", 8).await?;
    let found = lab.kubectl(&["get", "-n", namespace, "deployment/shop-v2", "-o", "json"]).await?;
    let found: Value = serde_json::from_str(&found)?;
    let mut spec = found.get("spec").cloned().unwrap_or_default();
    spec["replicas"] = json!(1);
    for labels in ["/selector/matchLabels", "/template/metadata/labels"] {
        if let Some(labels) = spec.pointer_mut(labels) {
            labels["pod"] = json!("pausing");
        }
    }
    if let Some(env) = spec.pointer_mut("/template/spec/containers/0/env").and_then(Value::as_array_mut) {
        env.push(json!({"name": "SHOP_PAUSE_SECONDS", "value": "3"}));
    }
    let metadata = json!({"name": "shop-v2-pausing", "namespace": namespace});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec});
    lab.apply(&object.to_string()).await?;
    for name in ["shop-v2", "shop-v2-pausing"] {
        lab.rolled_out(namespace, name).await?;
    }
    Ok(())
}

/// Replaces the canary's pods as an operator does, each after the one before. Returns with an error alone.
pub(crate) async fn restarts(lab: &Lab, namespace: &str) -> LabError {
    loop {
        let restart = ["rollout", "restart", "-n", namespace, "deployment/shop-v2"];
        if let Err(error) = lab.kubectl(&restart).await {
            return error;
        }
        sleep(REPLACED).await;
    }
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
