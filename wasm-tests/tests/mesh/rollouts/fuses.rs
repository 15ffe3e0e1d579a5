//! The fuse in two gateways, without a driver: a canary that fails or hangs gets no new sessions, and no session is moved. A driver that comes
//! back rolls it back.

use super::{DEADLINE, LoadedFixture, ended, release_that};
use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use jiff::Timestamp;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{interval, sleep, timeout};
use wasm_tests::scenario::HOST;

/// Users who come in each tenth of a second, and leave after one page.
const EACH_TENTH: usize = 6;
/// How long a user waits for a page.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(8);

/// New users, who come until they are stopped.
struct NewUsers {
    task: JoinHandle<()>,
    met: Arc<Met>,
}

/// What they met.
#[derive(Default)]
struct Met {
    came: AtomicUsize,
    /// Pages with another status than 200, and pages that did not come.
    faults: AtomicUsize,
}

impl NewUsers {
    fn start(loaded: &LoadedFixture<'_>) -> Self {
        let (gateway, met) = (loaded.env.gateway, Arc::new(Met::default()));
        let of_task = Arc::clone(&met);
        let task = tokio::spawn(async move {
            let (mut ticks, mut visits) = (interval(Duration::from_millis(100)), JoinSet::new());
            loop {
                ticks.tick().await;
                for _ in 0..EACH_TENTH {
                    let met = Arc::clone(&of_task);
                    met.came.fetch_add(1, Ordering::Relaxed);
                    visits.spawn(async move { met.visit(User::http1(gateway, HOST).as_if_tls()).await });
                }
                while visits.try_join_next().is_some() {}
            }
        });
        Self { task, met }
    }

    fn stop(self) -> (usize, usize) {
        self.task.abort();
        (self.met.came.load(Ordering::Relaxed), self.met.faults.load(Ordering::Relaxed))
    }
}

impl Met {
    async fn visit(&self, mut user: User) {
        let response = timeout(CLIENT_TIMEOUT, user.navigate("/")).await.ok().and_then(Result::ok);
        let status = response.as_ref().map_or(0, |response| response.status);
        self.faults.fetch_add(usize::from(status != 200), Ordering::Relaxed);
    }
}

/// Two gateways, and a canary at 30 % whose pods have this fault.
async fn broken<'l>(lab: &'l Lab, name: &str, fault: &str) -> (LoadedFixture<'l>, Cli) {
    let (loaded, cli) = release_that(lab, name, [0, 0], &json!({}), |document| document).await;
    let ingress = &loaded.env.ingress;
    lab.scale(ingress, "gateway", 2).await.unwrap();
    lab.rolled_out(ingress, "gateway").await.unwrap();
    lab.kubectl(&["set", "env", "-n", name, "deployment/shop-v2", fault]).await.unwrap();
    lab.rolled_out(name, "shop-v2").await.unwrap();
    cli.expect("weight 30 --wait", 0, &["30%"]).await;
    (loaded, cli)
}

/// Sessions of both versions. Who gets no page comes again.
async fn sessions(loaded: &LoadedFixture<'_>) -> Vec<(User, String)> {
    let mut sessions = Vec::new();
    for mut user in loaded.users(40) {
        let response = timeout(Duration::from_millis(500), user.navigate("/cart/add?item=tea")).await;
        if let Some(response) = response.ok().and_then(Result::ok).filter(|response| response.status == 200) {
            let version = response.header("x-shop-version").unwrap_or_default().to_owned();
            sessions.push((user, version));
        }
    }
    let on = |version: &str| sessions.iter().filter(|(_, at)| at == version).count();
    assert!(on("v1") > 5 && on("v2") > 0, "{} on stable, {} on the canary", on("v1"), on("v2"));
    sessions
}

/// Returns when the fuse is open in both gateways, and stays so for this time at least.
async fn both_are_open(cli: &Cli, for_at_least: Duration) -> Duration {
    let begin = Instant::now();
    loop {
        let output = cli.run("status -o json").await;
        let status: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let until = Timestamp::now().as_second().unsigned_abs() + for_at_least.as_secs();
        let is_open = |proxy: &Value| proxy["fusedUntilSeconds"].as_u64().is_some_and(|at| at > until);
        if status["proxies"].as_array().unwrap().iter().filter(|proxy| is_open(proxy)).count() == 2 {
            return begin.elapsed();
        }
        assert!(begin.elapsed() < Duration::from_mins(1), "{status}");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Each session comes again, all at once: a page that hangs takes as long as the fuse stays open, if they come one by one.
async fn stay_on_their_versions(sessions: Vec<(User, String)>) {
    let mut visits = JoinSet::new();
    for (mut user, expected) in sessions {
        visits.spawn(async move {
            let response = timeout(CLIENT_TIMEOUT, user.fetch("/cart")).await.ok().and_then(Result::ok);
            let version = response.as_ref().and_then(|response| response.header("x-shop-version"));
            assert!(
                version.is_none_or(|version| version == expected),
                "moved from {expected} to {version:?}"
            );
        });
    }
    while let Some(visit) = visits.join_next().await {
        visit.unwrap();
    }
}

/// A canary with this fault: the fuses open, new users get stable, sessions stay, and a driver that comes back rolls it back.
async fn stops_new_sessions(lab: &Lab, name: &str, fault: &str) {
    let (loaded, cli) = broken(lab, name, fault).await;
    let before = sessions(&loaded).await;
    let users = NewUsers::start(&loaded);
    let opened_after = both_are_open(&cli, Duration::ZERO).await;
    cli.expect("status", 0, &["the fuse of version `v2` is open in 2 of 2 proxies"]).await;
    // Each worker reads it within a second; users of before may still wait for their page.
    sleep(Duration::from_secs(2)).await;
    let met = Arc::clone(&users.met);
    let (came, faults) = (met.came.load(Ordering::Relaxed), met.faults.load(Ordering::Relaxed));
    for mut user in loaded.users(60) {
        let response = user.navigate("/").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some("v1")), "a new user");
    }
    stay_on_their_versions(before).await;

    // New users still come: a fuse that has closed opens again by them.
    both_are_open(&cli, Duration::from_secs(10)).await;
    cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
    let begin = Instant::now();
    let output = timeout(DEADLINE, cli.run("rollout run --interval 2s -o json")).await.expect("an end");
    let (result, reason) = ended(&output);
    println!("a driver ended it after {:.1?}: {reason}", begin.elapsed());
    let (all, _) = users.stop();
    println!(
        "{fault}: both fuses open after {opened_after:.1?}; {faults} of {came} new users met it, {all} came in all"
    );
    assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
    assert!(reason.contains("fuse"), "{reason}");
}

#[test]
fn a_canary_that_fails_gets_no_new_sessions_from_two_gateways_without_a_driver() {
    in_the_mesh(async |lab| stops_new_sessions(lab, "fuse-fails", "SHOP_FAIL_PERCENT=80").await);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_that_hangs_gets_no_new_sessions_from_two_gateways_without_a_driver() {
    in_the_mesh(async |lab| stops_new_sessions(lab, "fuse-hangs", "SHOP_HANG_PERCENT=80").await);
}
