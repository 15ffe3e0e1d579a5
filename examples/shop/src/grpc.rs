//! The pod's gRPC service: its identity, and a stream that stays open until the client or the pod ends it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use futures_util::{Stream, stream};
use hyper::body::Incoming;
use tokio::time::MissedTickBehavior;
use tonic::codegen::Service;
use tonic::{Code, Request, Response, Status};

use crate::hop::{Hop, Via, arrived};
use crate::life::Life;
use crate::pod::PodConfig;
use crate::proto::pod_server::{Pod, PodServer};
use crate::proto::{AskRequest, AskResponse, Tick, WatchRequest};
use crate::response::Body;

/// Metadata: the status that a call ends with, as a number.
const STATUS: &str = "x-shop-grpc-status";

const DEFAULT_PAUSE_MS: u32 = 100;
const MAX_PAUSE_MS: u32 = 10_000;

/// Answers the gRPC calls of one pod.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    service: &'static str,
    config: PodConfig,
    life: Arc<Life>,
    hop: Option<Hop>,
    open: Arc<AtomicU64>,
}

/// Whether this is a gRPC call and no other request.
pub(crate) fn is_call<B>(request: &::http::Request<B>) -> bool {
    let kind = request.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// The failure that a call asks for.
fn asked_failure(headers: &::http::HeaderMap) -> Option<Status> {
    let code = headers.get(STATUS)?.to_str().ok()?.parse().ok()?;
    Some(Status::new(Code::from_i32(code), "as asked"))
}

impl Calls {
    pub(crate) fn new(service: &'static str, config: &PodConfig, life: &Arc<Life>, hop: Option<Hop>) -> Self {
        Self { service, config: config.clone(), life: Arc::clone(life), hop, open: Arc::default() }
    }

    /// Streams open now.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) async fn answer(&self, request: ::http::Request<Incoming>) -> ::http::Response<Body> {
        let Ok(response) = PodServer::new(self.clone()).call(request).await;
        response
    }

    /// The identity of this pod, for a request over this protocol with these headers; without the catalog's part.
    pub(crate) fn identity(&self, via: Via, headers: &::http::HeaderMap) -> AskResponse {
        AskResponse {
            service: self.service.to_owned(),
            version: self.config.version().to_owned(),
            pod: self.config.pod().to_owned(),
            via: via.as_str().to_owned(),
            carried: arrived(headers),
            catalog: None,
        }
    }

    fn tick(&self, number: u64) -> Tick {
        Tick { number, version: self.config.version().to_owned(), pod: self.config.pod().to_owned() }
    }
}

#[tonic::async_trait]
impl Pod for Calls {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<Tick, Status>> + Send>>;

    async fn ask(&self, request: Request<AskRequest>) -> Result<Response<AskResponse>, Status> {
        let headers = request.into_parts().0.into_headers();
        if let Some(failure) = asked_failure(&headers) {
            return Err(failure);
        }
        let mut response = self.identity(Via::Grpc, &headers);
        if let Some(hop) = &self.hop {
            let catalog = hop.ask(Via::Grpc, &headers).await;
            let catalog = catalog.map_err(|error| Status::unavailable(format!("catalog: {error}")))?;
            response.catalog = Some(Box::new(catalog));
        }
        Ok(Response::new(response))
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let (metadata, _, request) = request.into_parts();
        if let Some(failure) = asked_failure(&metadata.into_headers()) {
            return Ok(Response::new(Box::pin(stream::iter([Ok(self.tick(1)), Err(failure)]))));
        }
        let pause = match request.every_ms {
            0 => DEFAULT_PAUSE_MS,
            asked => asked.min(MAX_PAUSE_MS),
        };
        let mut pulse = tokio::time::interval(Duration::from_millis(pause.into()));
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let from = (1, pulse, Open::new(self.clone()));
        Ok(Response::new(Box::pin(stream::unfold(from, |(number, mut pulse, open)| async move {
            tokio::select! {
                () = open.0.life.stopping.cancelled() => None,
                _ = pulse.tick() => Some((Ok(open.0.tick(number)), (number + 1, pulse, open))),
            }
        }))))
    }
}

/// Counts a stream for as long as it is open, however it ends.
struct Open(Calls);

impl Open {
    fn new(calls: Calls) -> Self {
        calls.open.fetch_add(1, Ordering::Relaxed);
        Self(calls)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
