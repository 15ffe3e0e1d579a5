//! A weight on its way: how long it takes into a real gateway, and that no connection notices (promise 7).

use std::time::{Duration, Instant};

use serde_json::json;
use wasm_tests::client::{Heartbeat, User, WebSocket};
use wasm_tests::lab::{Lab, Stage, StageOptions};
use wasm_tests::scenario::{Document, HOST};

use crate::support::{CONFIGURATION, UNDISTURBED, arrived, counters, in_the_mesh, with};
use crate::ticks::Ticks;

const GRPC: &str = "grpc.example.com";
/// Enough for a median.
const CHANGES: u64 = 11;

#[test]
fn a_weight_is_active_within_a_second_and_no_listener_websocket_or_stream_notices() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "weights", &StageOptions::gateway()).await.unwrap();
        lab.apply(&calls(&stage.namespace)).await.unwrap();
        let releases = [stage.release().unwrap(), over_grpc(&stage)];
        let manifests = generate(&stage, &releases, 1, "0");
        lab.apply(&manifests).await.unwrap();
        arrived(lab, &stage, &releases[0], 1).await;
        let socket = WebSocket::open(stage.gateway, HOST, "/ws", &[]).await.unwrap();
        let heartbeat = Heartbeat::start(socket, Duration::from_millis(20));
        let ticks =
            lab.until("a stream", async || Ticks::watch(stage.gateway, GRPC).await.ok()).await.unwrap();
        let before = counters(lab, &stage, &UNDISTURBED).await;

        let mut times = Vec::new();
        for change in 0..CHANGES {
            let (percent, version) = if change % 2 == 0 { ("100", "v2") } else { ("0", "v1") };
            let manifests = generate(&stage, &releases, change + 2, percent);
            times.push(write(lab, &stage, &with(&manifests, CONFIGURATION), version).await);
        }

        let (from_start, from_answer) = medians(&times);
        println!(
            "weight active {from_start:?} after `kubectl apply` began, {from_answer:?} after it ended (medians of {CHANGES})"
        );
        assert!(from_answer < Duration::from_secs(1), "{times:?}");
        assert_eq!(counters(lab, &stage, &UNDISTURBED).await, before);
        assert!(heartbeat.stop().await.expect("the websocket lives") > 0);
        assert!(ticks.stop().await.expect("the stream lives") > CHANGES);
    });
}

/// Writes it, and answers when new users came to this version: since the write began, and since it had been answered.
async fn write(lab: &Lab, stage: &Stage, manifests: &str, version: &str) -> (Duration, Duration) {
    let user = stage.user();
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

/// When a user who is new with every request comes to this version.
async fn first_on(lab: &Lab, mut user: User, version: &str) -> Instant {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        user.jar.clear();
        let answer = user.navigate("/").await.unwrap();
        assert_eq!(answer.status, 200);
        if answer.header("x-shop-version") == Some(version) {
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

fn generate(stage: &Stage, releases: &[Document; 2], generation: u64, percent: &str) -> String {
    let [shop, calls] = releases.clone().map(|release| release.with("/spec/weight", percent));
    stage.generate(&[&shop, &calls], generation).unwrap()
}

/// The same pods under a name whose port says that they speak HTTP/2: Istio takes the protocol from there.
fn calls(namespace: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "calls", "namespace": namespace},
        "spec": {"selector": {"app": "shop"}, "ports": [{"name": "grpc", "port": 80, "targetPort": 8080}]},
    })
    .to_string()
}

fn over_grpc(stage: &Stage) -> Document {
    let release = stage.release().unwrap();
    let named = release.with("/metadata/name", "calls").with("/spec/service/name", "calls");
    Document::from_value(named.with("/spec/hosts", json!([GRPC])).get(""))
}
