//! `stickiness: session` while the weight walks: new sessions get the share, live ones never change version or pod, and
//! logins change nothing (promises 3 and 4).

use std::time::Duration;

use browser::{Heartbeat, User, WebSocket};
use envoy_kit::{EnvoyBinary, newest, oldest};
use wasm_tests::scenario::{
    DisruptionCheck, Document, EnvoyFixture, EnvoySetup, Faults, HOST, Pods, Sessions,
};
use wasm_tests::stats::{UNLIKELY, share_p_value};

use crate::support::SHOP;

/// Percent, and the share it is.
const WALK: [(&str, f64); 7] =
    [("0", 0.0), ("1", 0.01), ("10", 0.10), ("50", 0.50), ("100", 1.0), ("50", 0.50), ("0", 0.0)];
const NEW: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_session_moves_while_the_weight_walks_under_the_oldest_envoy() {
    walk(&oldest().expect("it is installed"), "identity").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_session_moves_while_the_weight_walks_under_the_newest_envoy() {
    walk(&newest().expect("Envoy is installed"), "none").await;
}

async fn walk(binary: &EnvoyBinary, affinity: &str) {
    let pods = Pods::start().await.expect("pods start");
    let document = Document::session("shop").with("/spec/sessionAffinity", affinity);
    let fixture = EnvoyFixture::start(binary, EnvoySetup::of([document]), &pods).await.expect("a fixture");
    let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
    let (mut sessions, mut sockets) = (Sessions::default(), Vec::new());
    for (percent, share) in WALK {
        // A part of the old ones is on the move at the moment of the change.
        let moving = sessions.start_load(200);
        let took = fixture.weight(SHOP, percent).await.expect("the weight arrives");
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let (on_canary, faults) = sessions.open(fixture.users(NEW)).await;
        assert_eq!(faults, Faults::default());
        for version in ["v1", "v2"] {
            if let Some(user) = sessions.on(version) {
                sockets.push(socket(&fixture, user, version).await);
            }
        }
        let p_value = share_p_value(on_canary, NEW as u64, share);
        println!(
            "envoy {}: {percent} % active after {took:?}: {on_canary} of {NEW} new sessions, p = {p_value:.3}; {} alive",
            binary.minor,
            sessions.count()
        );
        assert!(p_value > UNLIKELY, "{on_canary} of {NEW} new sessions at {percent} %");
    }
    assert_eq!(sessions.verify_all(false).await, Faults::default());
    for socket in sockets {
        assert_ne!(socket.stop().await.expect("the websocket lives"), 0, "echoes");
    }
    assert_eq!(disruption.changes().await.expect("statistics"), []);
}

async fn socket(fixture: &EnvoyFixture, user: &User, version: &str) -> Heartbeat {
    let cookies = user.cookies_for("/ws").expect("a session and a pin");
    let socket = WebSocket::open(fixture.listener(), HOST, "/ws", &[("cookie", &cookies)]).await;
    let mut socket = socket.expect("a websocket");
    let echo = socket.echo("where am I").await.expect("an echo");
    assert!(echo.starts_with(version), "{echo} of a session on {version}");
    Heartbeat::start(socket, Duration::from_millis(20))
}
