//! A way to the real API server on which calls go wrong: it sees every call, lets it through, and spoils those it is told to.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use serde_json::json;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wasm_tests::lab::Lab;

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// It takes so long.
    Slow(Duration),
    /// The API server says this instead of doing it.
    Says(u16),
    /// It says 429, and to come again in a second.
    Busy,
    /// The connection breaks before it is done.
    LosesRequest,
    /// The connection breaks after it was done.
    LosesAnswer,
}

/// Which calls, and how often.
struct Spoiled {
    is_meant: Box<dyn Fn(&str) -> bool + Send>,
    left: u32,
    fault: Fault,
}

#[derive(Default)]
struct Seen {
    calls: Vec<String>,
    spoiled: Vec<Spoiled>,
}

/// The way. It ends with the value.
pub(super) struct Faulty {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    folder: TempDir,
    _serving: JoinSet<()>,
}

impl Faulty {
    pub(super) async fn new(lab: &Lab) -> Self {
        let file = Kubeconfig::read_from(lab.kubeconfig("admin").unwrap()).unwrap();
        let mut config =
            kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
        // Who asks is said by the call that is passed on.
        config.auth_info = AuthInfo::default();
        let server = Client::try_from(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&seen);
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (server, seen) = (server.clone(), Arc::clone(&shared));
                let answer = service_fn(move |call| pass(server.clone(), Arc::clone(&seen), call));
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Self { address, seen, folder: tempfile::tempdir().unwrap(), _serving: serving }
    }

    /// A kubeconfig for this way, as `admin`.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_with("token-of-admin")
    }

    pub(super) fn kubeconfig_with(&self, token: &str) -> PathBuf {
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

    /// Spoils the next `times` calls that are meant, as `METHOD /path`.
    pub(super) fn spoil(&self, times: u32, fault: Fault, is_meant: impl Fn(&str) -> bool + Send + 'static) {
        let spoiled = Spoiled { is_meant: Box::new(is_meant), left: times, fault };
        self.seen.lock().unwrap().spoiled.push(spoiled);
    }

    /// Whether nothing is left to spoil; forgets what is.
    pub(super) fn is_done(&self) -> bool {
        let spoiled = std::mem::take(&mut self.seen.lock().unwrap().spoiled);
        spoiled.iter().all(|spoiled| spoiled.left == 0)
    }

    /// Whether such a call has come.
    pub(super) fn has_seen(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.seen.lock().unwrap().calls.iter().any(|call| is_meant(call))
    }

    /// The calls since the last time, as `METHOD /path`.
    pub(super) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().calls)
    }
}

/// Whether a call changes something, and is made whatever the time: a Lease is renewed when it is time to.
pub(super) fn writes(call: &str) -> bool {
    let renews = call.starts_with("PUT ") && call.contains("/leases/");
    !call.starts_with("GET ") && !call.ends_with("/selfsubjectreviews") && !renews
}

async fn pass(
    server: Client,
    seen: Arc<Mutex<Seen>>,
    call: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let fault = note(&seen, &format!("{} {}", call.method(), call.uri().path()));
    let broken = || io::Error::other("the connection breaks here");
    match fault {
        Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
        Some(Fault::Says(code)) => return Ok(says(code)),
        Some(Fault::Busy) => {
            let mut answer = says(429);
            answer.headers_mut().insert("retry-after", "1".parse().unwrap());
            return Ok(answer);
        }
        Some(Fault::LosesRequest) => return Err(broken()),
        Some(Fault::LosesAnswer) | None => {}
    }
    let (mut head, body) = call.into_parts();
    head.headers.remove("host");
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let answer = server.send(Request::from_parts(head, body.into())).await.map_err(io::Error::other)?;
    let (mut head, body) = answer.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    if fault == Some(Fault::LosesAnswer) {
        return Err(broken());
    }
    for name in ["transfer-encoding", "content-length", "content-encoding"] {
        head.headers.remove(name);
    }
    Ok(Response::from_parts(head, Full::new(body)))
}

fn note(seen: &Mutex<Seen>, call: &str) -> Option<Fault> {
    let mut seen = seen.lock().unwrap();
    seen.calls.push(call.to_owned());
    let spoiled = seen.spoiled.iter_mut().find(|spoiled| spoiled.left > 0 && (spoiled.is_meant)(call))?;
    spoiled.left -= 1;
    Some(spoiled.fault)
}

/// As the API server says it.
fn says(code: u16) -> Response<Full<Bytes>> {
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
    let mut answer = Response::new(Full::new(Bytes::from(status.to_string())));
    *answer.status_mut() = code.try_into().unwrap();
    answer.headers_mut().insert("content-type", "application/json".parse().unwrap());
    answer
}
