//! A proxy before the real API server that records requests and injects faults into some of them.

use http::HeaderValue;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use mesh_lab::Kubernetes;
use serde_json::json;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The response is delayed.
    Slow(Duration),
    /// The response has this status; the request is not forwarded.
    Status(u16),
    /// 429 with `Retry-After: 1`; the request is not forwarded.
    Busy,
    /// The connection is closed before the request is forwarded.
    DropsRequest,
    /// The connection is closed after the request was executed.
    DropsResponse,
}

/// Which requests get a fault, and how many of them.
struct InjectedFault {
    is_meant: Box<dyn Fn(&str) -> bool + Send>,
    left: u32,
    fault: Fault,
}

#[derive(Default)]
struct ProxyState {
    calls: Vec<String>,
    faults: Vec<InjectedFault>,
}

/// The proxy. It ends with the value.
pub struct FaultProxy {
    address: SocketAddr,
    state: Arc<Mutex<ProxyState>>,
    folder: TempDir,
    _serving: JoinSet<()>,
}

impl FaultProxy {
    pub async fn new(api: &Kubernetes) -> Self {
        let file = Kubeconfig::read_from(api.kubeconfig("admin").unwrap()).unwrap();
        let mut config =
            kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
        // The forwarded request has the caller's own credentials.
        config.auth_info = AuthInfo::default();
        let server = Client::try_from(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ProxyState::default()));
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&state);
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (server, state) = (server.clone(), Arc::clone(&shared));
                let response = service_fn(move |call| pass(server.clone(), Arc::clone(&state), call));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), response);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Self { address, state, folder: tempfile::tempdir().unwrap(), _serving: serving }
    }

    /// A kubeconfig that leads to the proxy, as `admin`.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_with("token-of-admin")
    }

    pub fn kubeconfig_with(&self, token: &str) -> PathBuf {
        let path = self.folder.path().join("kubeconfig");
        let text = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
            "clusters": [{"name": "lab", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "admin", "user": {"token": token}}],
        });
        std::fs::write(&path, text.to_string()).unwrap();
        path
    }

    /// Injects a fault into the next `times` requests that are meant, as `METHOD /path`.
    pub fn inject(&self, times: u32, fault: Fault, is_meant: impl Fn(&str) -> bool + Send + 'static) {
        let injected = InjectedFault { is_meant: Box::new(is_meant), left: times, fault };
        self.state.lock().unwrap().faults.push(injected);
    }

    /// Whether all faults were injected; removes those that were not.
    pub fn is_done(&self) -> bool {
        let faults = std::mem::take(&mut self.state.lock().unwrap().faults);
        faults.iter().all(|fault| fault.left == 0)
    }

    /// Whether such a request has arrived.
    pub fn has_seen(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.state.lock().unwrap().calls.iter().any(|call| is_meant(call))
    }

    /// The requests since the last call, as `METHOD /path`.
    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }
}

/// The end of a call that the API server validates and discards.
const DRY_RUN: &str = "?dryRun";

/// Whether a call changes something, and is made whatever the time: a Lease is renewed when it is time to.
pub fn writes(call: &str) -> bool {
    let renews = call.starts_with("PUT ") && call.contains("/leases/");
    !call.starts_with("GET ") && !call.ends_with("reviews") && !call.ends_with(DRY_RUN) && !renews
}

async fn pass(
    server: Client,
    state: Arc<Mutex<ProxyState>>,
    call: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let dry_run = call.uri().query().filter(|query| query.contains("dryRun")).map_or("", |_| DRY_RUN);
    let fault = fault_for(&state, &format!("{} {}{dry_run}", call.method(), call.uri().path()));
    let broken = || io::Error::other("an injected fault");
    match fault {
        Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
        Some(Fault::Status(code)) => return Ok(status_response(code)),
        Some(Fault::Busy) => {
            let mut response = status_response(429);
            response.headers_mut().insert("retry-after", "1".parse().unwrap());
            return Ok(response);
        }
        Some(Fault::DropsRequest) => return Err(broken()),
        Some(Fault::DropsResponse) | None => {}
    }
    let (mut head, body) = call.into_parts();
    head.headers.remove("host");
    // The response would be compressed for the caller, whose header says so below no more.
    head.headers.remove("accept-encoding");
    // Clients in Go send no token without TLS.
    head.headers.entry("authorization").or_insert(HeaderValue::from_static("Bearer token-of-admin"));
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let response = server.send(Request::from_parts(head, body.into())).await.map_err(io::Error::other)?;
    let (mut head, body) = response.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    if fault == Some(Fault::DropsResponse) {
        return Err(broken());
    }
    for name in ["transfer-encoding", "content-length", "content-encoding"] {
        head.headers.remove(name);
    }
    Ok(Response::from_parts(head, Full::new(body)))
}

fn fault_for(state: &Mutex<ProxyState>, call: &str) -> Option<Fault> {
    let mut state = state.lock().unwrap();
    state.calls.push(call.to_owned());
    let injected = state.faults.iter_mut().find(|fault| fault.left > 0 && (fault.is_meant)(call))?;
    injected.left -= 1;
    Some(injected.fault)
}

/// A `Status` as the API server sends it.
fn status_response(code: u16) -> Response<Full<Bytes>> {
    let reason = match code {
        409 => "Conflict",
        429 => "TooManyRequests",
        _ => "InternalError",
    };
    let status = json!({
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": "a fault of the test's",
    });
    let mut response = Response::new(Full::new(Bytes::from(status.to_string())));
    *response.status_mut() = code.try_into().unwrap();
    response.headers_mut().insert("content-type", "application/json".parse().unwrap());
    response
}
