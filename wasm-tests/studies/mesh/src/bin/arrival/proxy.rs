//! A simulated gateway: what istiod sees of Envoy and its agent. It subscribes to what they subscribe to, accepts everything, and counts.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::stream;
use memchr::memmem;
use prost::Message as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;
use wasm_tests::grpc::Connection;

use crate::xds::{
    CLUSTERS, DeltaDiscoveryRequest, DeltaDiscoveryResponse, EXTENSIONS, Kind, LISTENERS, METHOD, Node,
    ROUTES, Struct,
};

/// No object of Kubernetes is larger, and a response is about one of them.
const LARGEST_RESPONSE: usize = 64 << 20;
/// Between two attempts to connect, and for all of them.
const BACKOFF: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_mins(1);

/// Which gateway it is, and what it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) namespace: String,
    /// The label `istio` of its pod.
    pub(crate) selector: String,
    /// The name of the extension configuration.
    pub(crate) extension: String,
}

/// What a proxy was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) proxy: usize,
    pub(crate) at: Instant,
    pub(crate) bytes: usize,
    /// The generation of the extension configuration, if it is one.
    pub(crate) generation: Option<u64>,
}

/// Connects, again and again: istiod admits so many streams a second. Everything that the proxy is sent goes to `received`, until the task
/// is aborted.
pub(crate) async fn connect(
    istiod: SocketAddr,
    number: usize,
    identity: Identity,
    received: UnboundedSender<Received>,
) -> Result<JoinHandle<Result<(), Status>>, Status> {
    let begun = Instant::now();
    loop {
        match try_connect(istiod, number, identity.clone(), received.clone()).await {
            Err(_) if begun.elapsed() < TIMEOUT => tokio::time::sleep(BACKOFF).await,
            connected => return connected,
        }
    }
}

async fn try_connect(
    istiod: SocketAddr,
    number: usize,
    identity: Identity,
    received: UnboundedSender<Received>,
) -> Result<JoinHandle<Result<(), Status>>, Status> {
    let origin =
        format!("http://{istiod}").parse().map_err(|_| Status::internal("an address is no origin"))?;
    let mut grpc = Grpc::with_origin(Connection::open(istiod).await?, origin)
        .max_decoding_message_size(LARGEST_RESPONSE);
    let (requests, mut outgoing) = unbounded_channel();
    for request in subscriptions(number, &identity) {
        drop(requests.send(request));
    }
    let outgoing = stream::poll_fn(move |context| outgoing.poll_recv(context));
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let codec = ProstCodec::<DeltaDiscoveryRequest, DeltaDiscoveryResponse>::default();
    let call = grpc.streaming(Request::new(outgoing), PathAndQuery::from_static(METHOD), codec);
    let mut responses = call.await?.into_inner();
    Ok(tokio::spawn(async move {
        while let Some(response) = responses.message().await? {
            let (at, bytes) = (Instant::now(), response.encoded_len());
            let generation = generation(&response);
            let DeltaDiscoveryResponse { type_url, nonce: response_nonce, .. } = response;
            let _ = requests.send(DeltaDiscoveryRequest { type_url, response_nonce, ..<_>::default() });
            let _ = received.send(Received { proxy: number, at, bytes, generation });
        }
        Ok(())
    }))
}

fn subscriptions(number: usize, identity: &Identity) -> [DeltaDiscoveryRequest; 4] {
    let Identity { namespace, selector, extension } = identity;
    let text = |value: &str| Kind::Text(value.to_owned());
    let labels = Struct::of([("istio", text(selector))]);
    let metadata = Struct::of([
        ("NAMESPACE", text(namespace)),
        ("CLUSTER_ID", text("Kubernetes")),
        ("ISTIO_VERSION", text("1.32.0")),
        ("LABELS", Kind::Struct(labels)),
    ]);
    let (high, low) = (number / 250, number % 250 + 1);
    let id =
        format!("router~192.0.{high}.{low}~simulated-{number}.{namespace}~{namespace}.svc.cluster.local");
    let node = Node { id, metadata: Some(metadata) };
    let about = |type_url: &str, names: &[&str]| DeltaDiscoveryRequest {
        node: Some(node.clone()),
        type_url: type_url.to_owned(),
        resource_names_subscribe: names.iter().map(|&name| name.to_owned()).collect(),
        ..<_>::default()
    };
    // The routes of the Gateway's port, whether istiod knows the port that its Service translates it to or not.
    [
        about(CLUSTERS, &[]),
        about(LISTENERS, &[]),
        about(ROUTES, &["http.80", "http.8080"]),
        about(EXTENSIONS, &[extension]),
    ]
}

/// The generation of the first release in an extension configuration.
fn generation(response: &DeltaDiscoveryResponse) -> Option<u64> {
    const FIELD: &[u8] = b"\"generation\":";
    let resource = response.resources.first().filter(|_| response.type_url == EXTENSIONS)?;
    let value = &resource.resource.as_ref()?.value;
    let rest = value.get(memmem::find(value, FIELD)? + FIELD.len()..)?;
    let digits = rest.iter().skip_while(|byte| **byte == b' ').take_while(|byte| byte.is_ascii_digit());
    digits.map(|byte| u64::from(byte - b'0')).reduce(|number, digit| number * 10 + digit)
}
