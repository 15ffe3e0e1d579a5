//! Responses that fail after their headers count as failed by user group in real proxies, while a rollout runs.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use browser::{Kind, Visit};
use demo_shop::proto::pod_client::PodClient;
use demo_shop::proto::{AskRequest, WatchRequest};
use serde_json::{Value, json};
use tonic::metadata::MetadataValue;
use tonic::{Code, Request};
use wasm_tests::grpc::Connection;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, HOST};

use crate::support::{SHOP, on_every_envoy};

/// A session whose user is in some group.
const SESSION: &str = "JSESSIONID=0123456789abcdef0123456789abcdef";
/// Workers flush their counters once a second.
const FLUSHED: Duration = Duration::from_millis(2_500);
/// How often each thing is done: more than chance would explain, and fewer than a fuse opens for.
const TIMES: usize = 5;

/// Pods speak the protocol of the client, as those of a Kubernetes Service whose port is called `grpc` or `http2`.
fn same_protocol(_bootstrap: &mut Value, folder: &Path) {
    let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let protocol = json!({
        "@type": format!("type.googleapis.com/{options}"), "use_downstream_protocol_config": {"http2_protocol_options": {}},
    });
    let path = folder.join("cds.yaml");
    let text = std::fs::read_to_string(&path).expect("the clusters");
    let mut file: Value = serde_saphyr::from_str(&text).expect("YAML");
    for cluster in file["resources"].as_array_mut().expect("clusters") {
        cluster["typed_extension_protocol_options"][options] = protocol.clone();
    }
    std::fs::write(&path, file.to_string()).expect("written"); // JSON is YAML
}

/// All users on the canary, in a rollout.
async fn in_rollout(fixture: &EnvoyFixture) {
    let mut config = fixture.config().expect("a configuration");
    let release = config.releases.values_mut().next().expect("a release");
    (release.rollout_since_seconds, release.generation) = (1, release.generation + 1);
    let generation = release.generation.to_string();
    fixture.push(&config, "rollout").expect("written");
    let is_active = |text: &str| {
        text.lines().any(|line| {
            line.starts_with("canary_generation_active") && line.ends_with(&format!(" {generation}"))
        })
    };
    let mut has_arrived = false;
    for _ in 0..100 {
        let _page = fixture.user().navigate("/").await;
        has_arrived = is_active(&fixture.admin().prometheus().await.expect("metrics"));
        if has_arrived {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(has_arrived, "the configuration has not arrived after 10 s");
}

/// Responses of the canary, and the failed ones among them, in all groups.
async fn counted(fixture: &EnvoyFixture) -> (f64, f64) {
    tokio::time::sleep(FLUSHED).await;
    let samples = fixture.admin().samples().await.expect("metrics");
    let of =
        |name: &str| samples.iter().filter(|sample| sample.name == name).map(|sample| sample.value).sum();
    (of("canary_group_responses_total"), of("canary_group_server_errors_total"))
}

fn with_session<T>(message: T, status: Code) -> Request<T> {
    let mut request = Request::new(message);
    let metadata = request.metadata_mut();
    metadata.insert("cookie", MetadataValue::from_static(SESSION));
    if status != Code::Ok {
        metadata.insert("x-shop-grpc-status", MetadataValue::from(status as i32));
    }
    request
}

async fn client(address: SocketAddr) -> PodClient<Connection> {
    let origin = format!("http://{HOST}").parse().expect("a host");
    PodClient::with_origin(Connection::open(address).await.expect("a connection"), origin)
}

/// The status of a unary call in the response's headers, and of a stream in its trailers.
async fn call(address: SocketAddr, status: Code) {
    for _ in 0..TIMES {
        let mut client = client(address).await;
        let asked = client.ask(with_session(AskRequest {}, status)).await;
        assert_eq!(asked.err().map_or(Code::Ok, |status| status.code()), status);
        let watched = client.watch(with_session(WatchRequest { every_ms: 5 }, status)).await;
        let mut ticks = watched.expect("a stream").into_inner();
        assert_eq!(ticks.message().await.expect("a tick").map(|tick| tick.version).as_deref(), Some("v2"));
        if status != Code::Ok {
            assert_eq!(ticks.message().await.expect_err("its status").code(), status);
        }
    }
}

/// The body of a page: whole, broken off by the pod after its headers, or by the client.
async fn read(fixture: &EnvoyFixture, path: &str, client_timeout: Duration) {
    for _ in 0..TIMES {
        let visit = Visit::new(Kind::Navigate, path).header("cookie", SESSION);
        let mut user = fixture.user();
        let _page = tokio::time::timeout(client_timeout, user.send(&visit)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_body_and_a_grpc_status_count_as_failed_in_every_envoy() {
    on_every_envoy(|binary, pods| async move {
        let document = Document::user("shop").with("/spec/weight", "100").with("/spec/fuse", false);
        let setup = EnvoySetup { bootstrap: same_protocol, ..EnvoySetup::of([document]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        in_rollout(&fixture).await;
        let (mut responses, mut failed) = counted(&fixture).await;
        let patient = Duration::from_secs(10);
        let times = u32::try_from(TIMES).map_or(0.0, f64::from);
        for (what, path, client_timeout, fails) in [
            ("a whole body", "/stream?n=4&ms=5", patient, 0.0),
            ("a page", "/", patient, 0.0),
            ("a body that the pod breaks off", "/stream?n=9&ms=5&cut=2", patient, times),
            ("one whose client leaves", "/stream?n=50&ms=50", Duration::from_millis(300), 0.0),
        ] {
            read(&fixture, path, client_timeout).await;
            let now = counted(&fixture).await;
            assert_eq!((now.0 - responses, now.1 - failed), (times, fails), "{what}: {SHOP}");
            (responses, failed) = now;
        }
        for (status, fails) in [(Code::Ok, 0.0), (Code::NotFound, 0.0), (Code::Internal, 2.0 * times)] {
            call(fixture.listener(), status).await;
            let now = counted(&fixture).await;
            assert_eq!((now.0 - responses, now.1 - failed), (2.0 * times, fails), "gRPC {status:?}");
            (responses, failed) = now;
        }
    })
    .await;
}
