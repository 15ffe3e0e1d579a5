//! The catalog: a second service behind the shop. It returns its version and pod, and the decision headers that it
//! received.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ::http::header::HeaderName;
use ::http::{Request, Response};
use hyper::body::Incoming;
use serde_json::json;
use tokio::net::TcpListener;

use crate::grpc::{self, Calls};
use crate::hop::Via;
use crate::http::drain;
use crate::life::Life;
use crate::pod::PodConfig;
use crate::refusal::Refusal;
use crate::response::{Body, DelayedResponse, full};
use crate::serve::{Answering, RunningPod};
use crate::shop::is_next_of;

const VERSION: HeaderName = HeaderName::from_static("x-catalog-version");
const POD: HeaderName = HeaderName::from_static("x-catalog-pod");

/// Serves a pod of the catalog on `listener` until the handle is stopped, killed or dropped.
///
/// # Errors
/// When the listener cannot say its address.
///
/// # Panics
/// Outside a tokio runtime.
pub fn serve_catalog(listener: TcpListener, config: PodConfig) -> io::Result<RunningPod> {
    serve_failing_catalog(listener, config, 0)
}

/// The same with a fault: this share of the responses over HTTP, in percent, is a 500.
///
/// # Errors
/// As [`serve_catalog`].
///
/// # Panics
/// As [`serve_catalog`].
pub fn serve_failing_catalog(
    listener: TcpListener,
    config: PodConfig,
    fail_percent: u8,
) -> io::Result<RunningPod> {
    let life = Arc::new(Life::new(&config));
    let calls = Calls::new("catalog", &config, &life, None);
    let pages = AtomicU64::new(0);
    RunningPod::start(listener, Arc::new(Catalog { config, life, calls, fail_percent, pages }))
}

struct Catalog {
    config: PodConfig,
    life: Arc<Life>,
    calls: Calls,
    fail_percent: u8,
    pages: AtomicU64,
}

impl Answering for Catalog {
    fn life(&self) -> &Arc<Life> {
        &self.life
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let mut response = if grpc::is_call(&request) {
            self.calls.answer(request).await
        } else {
            self.page(request).await.unwrap_or_else(|refusal| refused(&refusal)).response
        };
        let (version, pod) = self.config.identity_headers();
        response.headers_mut().insert(VERSION, version);
        response.headers_mut().insert(POD, pod);
        response
    }
}

impl Catalog {
    /// `/` as `Pod.Ask` over gRPC, and `/healthz`.
    async fn page(&self, request: Request<Incoming>) -> Result<DelayedResponse, Refusal> {
        let (head, body) = request.into_parts();
        drain(body).await?;
        match head.uri.path() {
            "/" if is_next_of(self.fail_percent, &self.pages) => return Err(Refusal::Broken),
            "/" => {}
            "/healthz" if self.life.is_ready() => {}
            "/healthz" => return Err(Refusal::Leaving),
            path => return Err(Refusal::NotFound { path: path.to_owned() }),
        }
        Ok(json_response(serde_json::to_vec(&self.calls.identity(Via::Http, &head.headers))?))
    }
}

fn refused(refusal: &Refusal) -> DelayedResponse {
    json_response(json!({"error": refusal.to_string()}).to_string().into_bytes()).status(refusal.status())
}

fn json_response(mut body: Vec<u8>) -> DelayedResponse {
    body.push(b'\n');
    DelayedResponse::new("application/json", full(body))
}
