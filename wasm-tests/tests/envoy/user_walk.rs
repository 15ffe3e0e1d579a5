//! `stickiness: user` while the weight walks: the share is exact, no user moves against the weight, the same users
//! return, and no connection is closed (promises 2, 3 and 7).

use std::collections::BTreeSet;
use std::time::Duration;

use browser::load::{LoadProfile, Report, run};
use browser::{Heartbeat, WebSocket};
use envoy_kit::{EnvoyBinary, newest, oldest};
use wasm_tests::scenario::{Crowd, DisruptionCheck, Document, EnvoyFixture, EnvoySetup, HOST, Pods};
use wasm_tests::stats::{UNLIKELY, share_p_value};

use crate::support::SHOP;

/// Percent, and the share it is.
const WALK: [(&str, f64); 7] =
    [("0", 0.0), ("1", 0.01), ("10", 0.10), ("50", 0.50), ("100", 1.0), ("50", 0.50), ("0", 0.0)];
const USERS: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_users_follow_the_weight_up_and_down_under_the_oldest_envoy() {
    walk(&oldest().expect("it is installed")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_users_follow_the_weight_up_and_down_under_the_newest_envoy() {
    walk(&newest().expect("Envoy is installed")).await;
}

async fn walk(binary: &EnvoyBinary) {
    let pods = Pods::start().await.expect("pods start");
    let fixture = EnvoyFixture::start(binary, EnvoySetup::of([Document::user("shop")]), &pods)
        .await
        .expect("a fixture");
    let socket = WebSocket::open(fixture.listener(), HOST, "/ws", &[]).await.expect("a websocket");
    let heartbeat = Heartbeat::start(socket, Duration::from_millis(20));
    let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
    // Requests are in flight at the moment of every change.
    let crowd = Crowd::start(
        fixture.users(20),
        LoadProfile { concurrency: 2, ..LoadProfile::navigate("/static/app.js", 5) },
    );
    let mut users = fixture.users(USERS);
    let mut canaries: Vec<(f64, BTreeSet<usize>)> = Vec::new();
    for (percent, share) in WALK {
        let took = fixture.weight(SHOP, percent).await.expect("the weight arrives");
        let (back, report) = run(users, &LoadProfile::navigate("/", 1)).await;
        users = back;
        let canary = unharmed(&report);
        let p_value = share_p_value(canary.len() as u64, USERS as u64, share);
        println!(
            "envoy {}: {percent} % active after {took:?}: {} users, p = {p_value:.3}",
            binary.minor,
            canary.len()
        );
        assert!(p_value > UNLIKELY, "{} users of {USERS} at {percent} %", canary.len());
        canaries.push((share, canary));
    }
    monotone(&canaries);
    let (_, crowd) = crowd.stop().await.expect("the crowd comes back");
    println!("{} more requests during the changes", crowd.records.len());
    unharmed(&crowd);
    assert_ne!(heartbeat.stop().await.expect("the websocket lives"), 0, "echoes");
    assert_eq!(disruption.changes().await.expect("statistics"), []);
}

/// Nothing failed and no connection was closed; returns the users on the canary.
fn unharmed(report: &Report) -> BTreeSet<usize> {
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    assert_eq!(report.closed(), 0, "connections closed");
    let last = report.last_versions();
    last.into_iter().filter(|(_, version)| version.as_deref() == Some("v2")).map(|(user, _)| user).collect()
}

fn monotone(canaries: &[(f64, BTreeSet<usize>)]) {
    for (before, after) in canaries.iter().zip(canaries.iter().skip(1)) {
        let (smaller, larger) = if before.0 < after.0 { (before, after) } else { (after, before) };
        assert!(
            smaller.1.is_subset(&larger.1),
            "somebody moved against the weight: {} to {}",
            before.0,
            after.0
        );
    }
    for (share, canary) in canaries {
        let same_weight = canaries.iter().filter(|(other, _)| (other - share).abs() < f64::EPSILON);
        assert!(same_weight.map(|(_, other)| other).all(|other| other == canary), "others at {share}");
    }
}
