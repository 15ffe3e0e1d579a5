//! The delivery of a weight: how long it takes into a real gateway, and that no connection is closed (promise 7).

use std::time::{Duration, Instant};

use browser::{Heartbeat, User, WebSocket};
use mesh_lab::Lab;
use serde_json::json;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, HOST};

use crate::support::stream_probe::Ticks;
use crate::support::{CONFIGURATION, UNDISTURBED, arrived, counters, in_the_mesh, with};

const GRPC: &str = "grpc.example.com";
/// Enough for a median.
const CHANGES: u64 = 11;
/// The longest wait for one change: less than Istio's drain of a listener (45 s by default).
const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn a_weight_is_active_without_a_drain_and_no_listener_websocket_or_stream_notices() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "weights", &ShopEnvOptions::gateway()).await.unwrap();
        lab.apply(&calls(&env.namespace)).await.unwrap();
        let releases = [env.release().unwrap(), over_grpc(&env)];
        let manifests = generate(&env, &releases, 1, "0");
        lab.apply(&manifests).await.unwrap();
        arrived(lab, &env, &releases[0], 1).await;
        let socket = WebSocket::open(env.gateway, HOST, "/ws", &[]).await.unwrap();
        let heartbeat = Heartbeat::start(socket, Duration::from_millis(20));
        let ticks = lab.until("a stream", async || Ticks::watch(env.gateway, GRPC).await.ok()).await.unwrap();
        let before = counters(lab, &env, &UNDISTURBED).await;

        let mut times = Vec::new();
        for change in 0..CHANGES {
            let (percent, version) = if change % 2 == 0 { ("100", "v2") } else { ("0", "v1") };
            let manifests = generate(&env, &releases, change + 2, percent);
            times.push(write(lab, &env, &with(&manifests, CONFIGURATION), version).await);
        }

        let (from_start, from_answer) = medians(&times);
        println!(
            "weight active {from_start:?} after `kubectl apply` began, {from_answer:?} after it ended (medians of {CHANGES})"
        );
        assert_eq!(counters(lab, &env, &UNDISTURBED).await, before);
        assert_ne!(heartbeat.stop().await.expect("the websocket lives"), 0, "echoes");
        let ticks = ticks.stop().await.expect("the stream lives");
        assert!(ticks > CHANGES, "{ticks} ticks during {CHANGES} changes");
    });
}

/// Writes it, and answers when new users came to this version: since the write began, and since it had been answered.
async fn write(lab: &Lab, env: &ShopEnv, manifests: &str, version: &str) -> (Duration, Duration) {
    let user = env.user();
    let begun = Instant::now();
    let (written, seen) = tokio::join!(
        async {
            lab.apply(manifests).await.unwrap();
            Instant::now()
        },
        first_on(lab, user, version)
    );
    (seen - begun, seen.saturating_duration_since(written))
}

/// The time at which a user who is new with every request first gets this version.
async fn first_on(lab: &Lab, mut user: User, version: &str) -> Instant {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        user.jar.clear();
        let response = user.navigate("/").await.unwrap();
        assert_eq!(response.status, 200);
        if response.header("x-shop-version") == Some(version) {
            return Instant::now();
        }
        assert!(
            Instant::now() < deadline,
            "nobody comes to {version}: {}",
            lab.log_tails("weights-ingress.")
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn medians(times: &[(Duration, Duration)]) -> (Duration, Duration) {
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    (
        median(times.iter().map(|(from_start, _)| *from_start).collect()),
        median(times.iter().map(|(_, from_answer)| *from_answer).collect()),
    )
}

fn generate(env: &ShopEnv, releases: &[Document; 2], generation: u64, percent: &str) -> String {
    let [shop, calls] = releases.clone().map(|release| release.with("/spec/weight", percent));
    env.generate(&[&shop, &calls], generation).unwrap()
}

/// The same pods under a name whose port declares HTTP/2: Istio takes the protocol from there.
fn calls(namespace: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "calls", "namespace": namespace},
        "spec": {"selector": {"app": "shop"}, "ports": [{"name": "grpc", "port": 80, "targetPort": 8080}]},
    })
    .to_string()
}

fn over_grpc(env: &ShopEnv) -> Document {
    let release = env.release().unwrap();
    let named = release.with("/metadata/name", "calls").with("/spec/service/name", "calls");
    Document::from_value(named.with("/spec/hosts", json!([GRPC])).get(""))
}
