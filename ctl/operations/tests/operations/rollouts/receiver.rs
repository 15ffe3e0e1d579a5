//! A receiver of alerts and hooks: a real HTTP server on the loopback interface, and who posts to it.

use bytes::Bytes;
use canary_operations::{AlertSender, HookCaller, SendError};
use canary_release::alert::Payload;
use canary_release::hook::{HookError, HookPayload};
use canary_release::spec::{AlertFormat, ReceiverEndpoint, Release, RolloutHook, SecretSource, SecretUrl};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// What the path of the URL contains, and nothing that is printed or recorded may.
pub(super) const SECRET: &str = "T0-secret";
/// How long a response is waited for: a busy machine answers late, and what is late is sent again.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A receiver that answers nothing.
const SILENT: u16 = 0;

/// What a receiver was sent, and how it answers.
#[derive(Clone)]
pub(super) struct Receiver {
    address: String,
    status: Arc<AtomicU16>,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    /// One that accepts everything.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap().to_string(),
            status: Arc::new(AtomicU16::new(200)),
            received: Arc::default(),
        };
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = serving.clone();
                let service = service_fn(move |request| receiver.clone().respond(request));
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        receiver
    }

    /// One that nobody listens for.
    pub(super) async fn down() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        Self { address, status: Arc::default(), received: Arc::default() }
    }

    pub(super) fn answer(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// It reads requests, and answers none.
    pub(super) fn fall_silent(&self) {
        self.answer(SILENT);
    }

    pub(super) fn url(&self) -> SecretUrl {
        format!("http://{}/hooks/{SECRET}", self.address).parse().unwrap()
    }

    /// Everything that it was sent, in its order.
    pub(super) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }

    /// The alerts by id, each with how often it came; fails if one came with another content.
    pub(super) fn by_id(&self) -> BTreeMap<String, (Value, usize)> {
        let mut all: BTreeMap<String, (Value, usize)> = BTreeMap::new();
        for alert in self.received() {
            let id = alert["id"].as_str().unwrap().to_owned();
            let (first, count) = all.entry(id).or_insert_with(|| (alert.clone(), 0));
            assert_eq!(*first, alert, "the same id says the same");
            *count += 1;
        }
        all
    }

    /// The transitions, in the order of their ids.
    pub(super) fn kinds(&self) -> Vec<String> {
        let mut all: Vec<(u64, String)> = self
            .by_id()
            .into_iter()
            .map(|(id, (alert, _))| {
                let number = id.rsplit('-').next().unwrap().parse().unwrap();
                (number, alert["type"].as_str().unwrap().to_owned())
            })
            .collect();
        all.sort();
        all.into_iter().map(|(_, kind)| kind).collect()
    }

    async fn respond(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        self.received.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        let status = self.status.load(Ordering::SeqCst);
        if status == SILENT {
            std::future::pending::<()>().await;
        }
        Ok(Response::builder().status(status).body(Full::default()).unwrap())
    }
}

/// Posts to receivers by their names: those of its file.
pub(super) struct TestSender {
    endpoints: BTreeMap<String, ReceiverEndpoint>,
    timeout: Duration,
}

impl TestSender {
    pub(super) fn to(receivers: &[(&str, &Receiver)]) -> Arc<dyn AlertSender> {
        Self::within(TIMEOUT, receivers)
    }

    /// Waits so long for a response.
    pub(super) fn within(timeout: Duration, receivers: &[(&str, &Receiver)]) -> Arc<dyn AlertSender> {
        let endpoint = |receiver: &Receiver| ReceiverEndpoint {
            format: AlertFormat::Webhook,
            url_from: SecretSource::Inline,
            url: Some(receiver.url()),
        };
        let endpoints = receivers.iter().map(|(name, receiver)| ((*name).to_owned(), endpoint(receiver)));
        Arc::new(Self { endpoints: endpoints.collect(), timeout })
    }

    /// Posts to the receivers of a file.
    pub(super) fn of_file(release: &Release) -> Arc<dyn AlertSender> {
        Arc::new(Self { endpoints: release.rollout.alerts.endpoints.clone(), timeout: TIMEOUT })
    }
}

impl AlertSender for TestSender {
    fn endpoint(&self, receiver: &str) -> Option<&ReceiverEndpoint> {
        self.endpoints.get(receiver)
    }

    fn url(&self, endpoint: &ReceiverEndpoint) -> Result<SecretUrl, SendError> {
        assert_eq!(endpoint.url_from, SecretSource::Inline, "a Secret is read by the library");
        endpoint.url.clone().ok_or_else(|| SendError::later("no URL"))
    }

    fn send<'a>(
        &'a self,
        url: &'a SecretUrl,
        payload: &'a Payload,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), SendError>> {
        Box::pin(async move {
            let address = url.expose().strip_prefix("http://").unwrap().split('/').next().unwrap();
            let sent = tokio::time::timeout(self.timeout, post(address, url, payload)).await;
            match sent.map_err(|_| SendError::later("no response"))? {
                Ok(status) if status.is_success() => Ok(()),
                Ok(status) => {
                    Err(SendError { reason: status.to_string(), is_final: status.is_client_error() })
                }
                Err(error) => Err(SendError::later(error)),
            }
        })
    }
}

/// Calls hooks by their names, each with a command as a load tester gets it and with its name.
pub(super) struct TestHooks {
    urls: BTreeMap<String, SecretUrl>,
    timeout: Duration,
    in_flight: AtomicUsize,
    /// The ids of notifications, in their order.
    ids: Mutex<Vec<String>>,
}

impl TestHooks {
    pub(super) fn to(hooks: &[(&str, &Receiver)]) -> Arc<Self> {
        let urls = hooks.iter().map(|(name, receiver)| ((*name).to_owned(), receiver.url()));
        let (in_flight, ids) = (AtomicUsize::new(0), Mutex::default());
        Arc::new(Self { urls: urls.collect(), timeout: TIMEOUT, in_flight, ids })
    }

    /// Waits until the calls that were made have ended.
    pub(super) async fn settle(&self) {
        // A call that has not begun yet is one of the next observation.
        tokio::time::sleep(Duration::from_millis(2)).await;
        while self.in_flight.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.ids.lock().unwrap().clone()
    }

    async fn post(&self, hook: &RolloutHook, payload: HookPayload) -> Result<(), HookError> {
        let metadata = [("cmd", format!("hey --secret {SECRET}")), ("hook", hook.name.clone())];
        let metadata = metadata.map(|(name, value)| (name.to_owned(), value)).into();
        let body = serde_json::to_value(payload.with_metadata(&metadata)).unwrap();
        let url = &self.urls[&hook.name];
        let address = url.expose().strip_prefix("http://").unwrap().split('/').next().unwrap();
        let payload = Payload { content_type: "application/json", body };
        let sent = tokio::time::timeout(self.timeout, post(address, url, &payload)).await;
        match sent.map_err(|_| HookError::no_response("no response"))?.map_err(HookError::no_response)? {
            status if status.is_success() => Ok(()),
            status => Err(HookError {
                reason: status.to_string(),
                is_response: true,
                is_final: status.is_client_error(),
            }),
        }
    }
}

impl HookCaller for TestHooks {
    fn call<'a>(
        &'a self,
        hook: &'a RolloutHook,
        payload: HookPayload,
        id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        let in_flight = InFlight::begin(&self.in_flight);
        self.ids.lock().unwrap().extend(id.map(str::to_owned));
        Box::pin(async move {
            let called = self.post(hook, payload).await;
            drop(in_flight);
            called
        })
    }
}

/// A call that is being made, until it has ended or its driver is killed.
struct InFlight<'h>(&'h AtomicUsize);

impl<'h> InFlight<'h> {
    fn begin(count: &'h AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn post(address: &str, url: &SecretUrl, payload: &Payload) -> Result<http::StatusCode, String> {
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let (mut requests, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let request = Request::post(url.expose())
        .header("host", address)
        .header("content-type", payload.content_type)
        .body(Full::<Bytes>::from(payload.body.to_string()))
        .unwrap();
    let response = requests.send_request(request).await.map_err(|error| error.to_string());
    connection.abort();
    Ok(response?.status())
}
