//! Which failed API calls are made again, and when: those that were turned away, and those that may be done twice.
//!
//! Reads may. So may our writes of what is there, because each names the version that it replaces: done twice, the second
//! is refused. What makes something new may only be made again when the API server says that it has not begun with it.
//!
//! `kube` has a policy of its own, which looks neither at the method nor at `Retry-After`.

use http::{HeaderMap, Method, Request, Response, StatusCode, header::RETRY_AFTER};
use kube::client::Body;
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower::retry::Policy;
use tower::retry::backoff::{
    Backoff as _, ExponentialBackoff, ExponentialBackoffMaker, InvalidBackoff, MakeBackoff as _,
};
use tower::util::rng::HasherRng;

/// The first pause; each further one is twice as long, and up to twice as long again by chance.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause, also where the API server asks for more.
const LONGEST: Duration = Duration::from_secs(5);
/// A call that fails for so long has failed.
const ENOUGH: Duration = Duration::from_secs(15);
/// So many further attempts.
const ATTEMPTS: u32 = 5;

/// Makes failed calls again.
#[derive(Clone, Debug)]
pub(super) struct RetryPolicy {
    backoff: ExponentialBackoff,
    left: u32,
    failing_since: Option<Instant>,
}

impl RetryPolicy {
    pub(super) fn new() -> Result<Self, InvalidBackoff> {
        let backoff = ExponentialBackoffMaker::new(FIRST, LONGEST, 1.0, HasherRng::new())?.make_backoff();
        Ok(Self { backoff, left: ATTEMPTS, failing_since: None })
    }
}

impl<B> Policy<Request<Body>, Response<B>, BoxError> for RetryPolicy {
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        outcome: &mut Result<Response<B>, BoxError>,
    ) -> Option<Sleep> {
        let answer = outcome.as_ref().ok().map(|answer| (answer.status(), answer.headers()));
        let asked = match verdict(request.method(), request.uri().path(), answer) {
            Verdict::Ended => return None,
            Verdict::RetryPolicy => None,
            Verdict::After(pause) => Some(pause.min(LONGEST)),
        };
        self.left = self.left.checked_sub(1)?;
        // Here and not where the request is cloned: that is done by the policy of all calls.
        if self.failing_since.get_or_insert_with(Instant::now).elapsed() > ENOUGH {
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

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It has ended, well or not.
    Ended,
    /// It is made again, after a pause of ours.
    RetryPolicy,
    /// It is made again, after the pause that the API server asks for.
    After(Duration),
}

/// No answer is a broken connection.
fn verdict(method: &Method, path: &str, answer: Option<(StatusCode, &HeaderMap)>) -> Verdict {
    // What a proxy of the mesh says or does not say is a fact about the proxy.
    if path.contains("/proxy/") {
        return Verdict::Ended;
    }
    // Asking who we are makes nothing.
    let makes_something = method == Method::POST && !path.ends_with("/selfsubjectreviews");
    match answer {
        Some((StatusCode::TOO_MANY_REQUESTS, headers)) => after(headers),
        Some((status, headers)) if status.is_server_error() && !makes_something => after(headers),
        None if !makes_something => Verdict::RetryPolicy,
        _ => Verdict::Ended,
    }
}

/// `Retry-After` is in seconds, as API servers say it.
fn after(headers: &HeaderMap) -> Verdict {
    let said = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    said.map_or(Verdict::RetryPolicy, |seconds| Verdict::After(Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "/api/v1/namespaces/shop/configmaps/shop-canary";

    fn answered(method: &Method, path: &str, status: u16) -> Verdict {
        verdict(method, path, Some((StatusCode::from_u16(status).unwrap(), &HeaderMap::new())))
    }

    #[test]
    fn what_makes_something_is_made_again_only_when_it_was_turned_away() {
        assert_eq!(answered(&Method::POST, OBJECT, 429), Verdict::RetryPolicy);
        assert_eq!(answered(&Method::POST, OBJECT, 500), Verdict::Ended);
        assert_eq!(verdict(&Method::POST, OBJECT, None), Verdict::Ended);
        assert_eq!(answered(&Method::PATCH, OBJECT, 500), Verdict::RetryPolicy);
        assert_eq!(verdict(&Method::PUT, OBJECT, None), Verdict::RetryPolicy);
    }

    #[test]
    fn a_no_is_no_failure_and_a_silent_proxy_none_of_the_api_servers() {
        for status in [400, 401, 403, 404, 409, 422] {
            assert_eq!(answered(&Method::GET, OBJECT, status), Verdict::Ended);
        }
        let metrics = "/api/v1/namespaces/shop/pods/a:15090/proxy/stats/prometheus";
        assert_eq!(answered(&Method::GET, metrics, 503), Verdict::Ended);
    }

    #[test]
    fn the_api_server_says_how_long_to_wait() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "2".parse().unwrap());
        let told = verdict(&Method::GET, OBJECT, Some((StatusCode::TOO_MANY_REQUESTS, &headers)));
        assert_eq!(told, Verdict::After(Duration::from_secs(2)));
    }
}
