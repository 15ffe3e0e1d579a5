//! Sessions while the weight walks behind a real gateway: new ones get the share, live ones lose nothing (promises 3, 4, 7, 8).

use std::time::Duration;

use browser::{Heartbeat, WebSocket};
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Faults, HOST, Sessions};
use wasm_tests::stats::{UNLIKELY, share_p_value};

use crate::support::{UNDISTURBED, apply, counters, in_the_mesh};

/// Percent, and the share it is.
const WALK: [(&str, f64); 6] =
    [("0", 0.0), ("10", 0.10), ("50", 0.50), ("100", 1.0), ("20", 0.20), ("0", 0.0)];
const NEW: usize = 150;

#[test]
fn no_session_moves_while_the_weight_walks_behind_the_oldest_envoy() {
    in_the_mesh(async |lab| walk(lab, "sessions-oldest", "1.36").await);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn no_session_moves_while_the_weight_walks_behind_the_newest_envoy() {
    in_the_mesh(async |lab| walk(lab, "sessions-newest", "1.40").await);
}

async fn walk(lab: &Lab, name: &str, envoy: &str) {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway_with(envoy)).await.unwrap();
    let release = env.release().unwrap().with("/spec/sessionAffinity", "identity");
    apply(lab, &env, &release, 1).await;
    let before = counters(lab, &env, &UNDISTURBED).await;
    let (mut sessions, mut sockets) = (Sessions::default(), Vec::new());
    for (generation, (percent, share)) in (2..).zip(WALK) {
        // A part of the old ones is on the move at the moment of the change.
        let moving = sessions.start_load(50);
        apply(lab, &env, &release.clone().with("/spec/weight", percent), generation).await;
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let (on_canary, faults) = sessions.open((0..NEW).map(|_| env.user()).collect()).await;
        assert_eq!(faults, Faults::default());
        for version in ["v1", "v2"] {
            sockets.extend(open(&env, &sessions, version).await);
        }
        let p_value = share_p_value(on_canary, NEW as u64, share);
        println!("envoy {envoy}: {on_canary} of {NEW} new sessions at {percent} %, p = {p_value:.3}");
        assert!(p_value > UNLIKELY, "{on_canary} of {NEW} new sessions at {percent} %");
    }
    assert_eq!(sessions.verify_all(false).await, Faults::default());
    for socket in sockets {
        assert_ne!(socket.stop().await.expect("the websocket lives"), 0, "echoes");
    }
    assert_eq!(counters(lab, &env, &UNDISTURBED).await, before);
}

/// A WebSocket of a session on this version, if there is one.
async fn open(env: &ShopEnv, sessions: &Sessions, version: &str) -> Option<Heartbeat> {
    let cookies = sessions.on(version)?.cookies_for("/ws")?;
    let mut socket = WebSocket::open(env.gateway, HOST, "/ws", &[("cookie", &cookies)]).await.unwrap();
    let echo = socket.echo("where am I").await.unwrap();
    assert!(echo.starts_with(version), "{echo} of a session on {version}");
    Some(Heartbeat::start(socket, Duration::from_millis(50)))
}
