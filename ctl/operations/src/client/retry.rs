//! Which failed API requests are sent again, and when: those that were rejected with 429, and those that are idempotent.
//!
//! Reads are. So are our updates of existing objects, because each names the `resourceVersion` that it replaces: the second one
//! is refused. A create is sent again only if the API server has rejected it before it began (429).
//!
//! `kube` has a policy of its own, which ignores the method and `Retry-After`.

use http::header::RETRY_AFTER;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use kube::client::Body;
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower::retry::Policy;
use tower::retry::backoff::{
    Backoff as _, ExponentialBackoff, ExponentialBackoffMaker, InvalidBackoff, MakeBackoff as _,
};
use tower::util::rng::HasherRng;

/// The first backoff; each further one is twice as long, and up to twice as long again by chance.
const INITIAL_BACKOFF: Duration = Duration::from_millis(100);
/// The longest backoff, also if the API server's `Retry-After` is longer.
const MAX_BACKOFF: Duration = Duration::from_secs(5);
/// No retry after a request has failed for so long.
const RETRY_DEADLINE: Duration = Duration::from_secs(15);
/// Retries of one request.
const MAX_RETRIES: u32 = 5;

/// Sends failed requests again.
#[derive(Clone, Debug)]
pub(super) struct RetryPolicy {
    backoff: ExponentialBackoff,
    left: u32,
    failing_since: Option<Instant>,
}

impl RetryPolicy {
    pub(super) fn new() -> Result<Self, InvalidBackoff> {
        let backoff =
            ExponentialBackoffMaker::new(INITIAL_BACKOFF, MAX_BACKOFF, 1.0, HasherRng::new())?.make_backoff();
        Ok(Self { backoff, left: MAX_RETRIES, failing_since: None })
    }
}

impl<B> Policy<Request<Body>, Response<B>, BoxError> for RetryPolicy {
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        outcome: &mut Result<Response<B>, BoxError>,
    ) -> Option<Sleep> {
        let response = outcome.as_ref().ok().map(|response| (response.status(), response.headers()));
        let asked = match decide(request.method(), request.uri().path(), response) {
            RetryDecision::Ended => return None,
            RetryDecision::Retry => None,
            RetryDecision::RetryAfter(pause) => Some(pause.min(MAX_BACKOFF)),
        };
        self.left = self.left.checked_sub(1)?;
        // Here and not where the request is cloned: that is done by the policy of all calls.
        if self.failing_since.get_or_insert_with(Instant::now).elapsed() > RETRY_DEADLINE {
            return None;
        }
        let jittered = self.backoff.next_backoff();
        Some(asked.map_or(jittered, sleep))
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        let mut copy = Request::new(request.body().try_clone()?);
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.version_mut() = request.version();
        *copy.headers_mut() = request.headers().clone();
        *copy.extensions_mut() = request.extensions().clone();
        Some(copy)
    }
}

/// The next step of a request after a response or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RetryDecision {
    /// Its result is final.
    Ended,
    /// It is sent again, after the backoff.
    Retry,
    /// It is sent again, after the time of the API server's `Retry-After`.
    RetryAfter(Duration),
}

/// No response is a broken connection.
fn decide(method: &Method, path: &str, response: Option<(StatusCode, &HeaderMap)>) -> RetryDecision {
    // An error of a proxy, or of the kubelet that connects to it, is not the API server's.
    if path.contains("/proxy/") || path.ends_with("/portforward") {
        return RetryDecision::Ended;
    }
    // A review stores nothing.
    let is_review = path.ends_with("/selfsubjectreviews") || path.ends_with("/selfsubjectaccessreviews");
    let is_create = method == Method::POST && !is_review;
    match response {
        Some((StatusCode::TOO_MANY_REQUESTS, headers)) => after(headers),
        Some((status, headers)) if status.is_server_error() && !is_create => after(headers),
        None if !is_create => RetryDecision::Retry,
        _ => RetryDecision::Ended,
    }
}

/// `Retry-After` is in seconds, as API servers say it.
fn after(headers: &HeaderMap) -> RetryDecision {
    let said = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    said.map_or(RetryDecision::Retry, |seconds| RetryDecision::RetryAfter(Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "/api/v1/namespaces/shop/configmaps/shop-canary";

    fn responded(method: &Method, path: &str, status: u16) -> RetryDecision {
        decide(method, path, Some((StatusCode::from_u16(status).unwrap(), &HeaderMap::new())))
    }

    #[test]
    fn creates_are_retried_only_on_429() {
        assert_eq!(responded(&Method::POST, OBJECT, 429), RetryDecision::Retry);
        assert_eq!(responded(&Method::POST, OBJECT, 500), RetryDecision::Ended);
        assert_eq!(decide(&Method::POST, OBJECT, None), RetryDecision::Ended);
        assert_eq!(responded(&Method::PATCH, OBJECT, 500), RetryDecision::Retry);
        assert_eq!(decide(&Method::PUT, OBJECT, None), RetryDecision::Retry);
    }

    #[test]
    fn client_errors_and_proxy_timeouts_are_not_retried() {
        for status in [400, 401, 403, 404, 409, 422] {
            assert_eq!(responded(&Method::GET, OBJECT, status), RetryDecision::Ended);
        }
        let metrics = "/api/v1/namespaces/shop/pods/a:15090/proxy/stats/prometheus";
        assert_eq!(responded(&Method::GET, metrics, 503), RetryDecision::Ended);
        let forwarded = "/api/v1/namespaces/shop/pods/a/portforward";
        assert_eq!(responded(&Method::GET, forwarded, 500), RetryDecision::Ended);
    }

    #[test]
    fn retry_after_is_obeyed() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "2".parse().unwrap());
        let told = decide(&Method::GET, OBJECT, Some((StatusCode::TOO_MANY_REQUESTS, &headers)));
        assert_eq!(told, RetryDecision::RetryAfter(Duration::from_secs(2)));
    }
}
