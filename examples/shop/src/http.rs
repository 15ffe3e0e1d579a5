//! The stages of a request: read the body, call the catalog, route, wait, send the response with the names of version
//! and pod.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use ::http::request::Parts;
use ::http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};

use crate::grpc;
use crate::hop::HopError;
use crate::life::Life;
use crate::proto;
use crate::refusal::{MAX_BODY, Refusal};
use crate::response::{Body, DelayedResponse, empty};
use crate::routes;
use crate::serve::Answering;
use crate::shop::Shop;
use crate::visit::{Brought, Visit};
use crate::ws;

const VERSION: HeaderName = HeaderName::from_static("x-shop-version");
const POD: HeaderName = HeaderName::from_static("x-shop-pod");
/// What the request brought: `none`, `known` or `lost`; so a load test need not read bodies.
const SESSION: HeaderName = HeaderName::from_static("x-shop-session");
/// A request header: delays the response by this time, to put parallel responses in any order.
const DELAY: &str = "x-shop-delay-ms";
const MAX_DELAY_MS: u64 = 20_000;
/// The time from one pause of a pod to the next.
const PAUSE_INTERVAL: Duration = Duration::from_secs(30);

impl Answering for Shop {
    fn life(&self) -> &Arc<Life> {
        &self.life
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        let mut response = if grpc::is_call(&request) {
            self.calls.answer(request).await
        } else {
            page(&self, request).await
        };
        let (version, pod) = self.config.pod_config().identity_headers();
        response.headers_mut().insert(VERSION, version);
        response.headers_mut().insert(POD, pod);
        response
    }
}

/// Answers one request that is no gRPC call. The work is done at once and the response delayed, so that parallel
/// requests change the store in their order of arrival and are answered in the order that the test requests. (If the
/// catalog is called, its response is awaited before the work.)
async fn page(shop: &Arc<Shop>, mut request: Request<Incoming>) -> Response<Body> {
    let handshake = ws::handshake(&mut request);
    let (parts, body) = request.into_parts();
    let drained = match handshake {
        // The body of an upgraded HTTP/2 stream is the socket itself.
        Some(_) => Ok(()),
        None => drain(body).await,
    };

    let catalog = ask_catalog(shop, &parts).await;
    let visit = Visit::new(shop, &parts, catalog);
    let delayed = match (drained, delay(&parts.headers)) {
        (Err(refusal), _) | (_, Err(refusal)) => routes::refused(&visit, &refusal),
        (Ok(()), Ok(delay)) => {
            let delayed = match handshake {
                Some(handshake) => ws::accept(shop, handshake),
                None => routes::answer(&visit),
            };
            let wait = delayed.wait.max(delay).max(pause_left(shop, &parts));
            delayed.after(wait)
        }
    };
    let DelayedResponse { mut response, wait } = delayed;
    response.headers_mut().insert(SESSION, brought(&visit.brought));
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    if parts.method == Method::HEAD { without_body(response) } else { response }
}

/// How long a page has to wait in a pod that pauses.
fn pause_left(shop: &Shop, request: &Parts) -> Duration {
    if shop.config.pause.is_zero() || !routes::is_page(request.uri.path()) {
        return Duration::ZERO;
    }
    let since = Duration::from_millis(as_millis(shop.started.elapsed()) % as_millis(PAUSE_INTERVAL));
    shop.config.pause.saturating_sub(since)
}

fn as_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Reads the body and throws it away: a connection with an unread body could not be kept.
pub(crate) async fn drain(body: Incoming) -> Result<(), Refusal> {
    let mut body = Limited::new(body, MAX_BODY);
    while let Some(frame) = body.frame().await {
        frame.map_err(|found| Refusal::Body { found: found.to_string() })?;
    }
    Ok(())
}

/// What the catalog answers on behalf of this request; `None` if it need not be asked.
async fn ask_catalog(shop: &Shop, request: &Parts) -> Option<Result<proto::AskResponse, HopError>> {
    let via = routes::asks_catalog(request)?;
    Some(shop.hop.as_ref()?.ask(via, &request.headers).await)
}

fn delay(headers: &HeaderMap) -> Result<Duration, Refusal> {
    let Some(value) = headers.get(DELAY) else { return Ok(Duration::ZERO) };
    let ms = value.to_str().ok().and_then(|text| text.parse::<u64>().ok());
    ms.map(|ms| Duration::from_millis(ms.min(MAX_DELAY_MS))).ok_or_else(|| Refusal::Value {
        place: DELAY,
        expected: "milliseconds as a whole number",
        found: String::from_utf8_lossy(value.as_bytes()).into_owned(),
    })
}

fn brought(brought: &Brought) -> HeaderValue {
    HeaderValue::from_static(match brought {
        Brought::Nothing => "none",
        Brought::Known(_) => "known",
        Brought::Lost => "lost",
    })
}

/// The head alone, with the length that the body would have had.
fn without_body(response: Response<Body>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(head, empty())
}
