//! Reports each request to the API server: also one that is sent again.

use super::silence::BoxedResponse;
use http::{Request, Response};
use kube::client::Body;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower::{BoxError, Layer, Service};

/// A request whose response has come, or cannot come any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiRequestDone<'r> {
    /// The HTTP method.
    pub method: &'r str,
    /// Path and query.
    pub path: &'r str,
    /// The status of the response; `None` without a response.
    pub status: Option<u16>,
    /// The time from the request to the head of the response.
    pub duration: Duration,
}

/// Called after each request.
pub type RequestObserver = fn(&ApiRequestDone<'_>);

/// Observes the requests of a client, if there is an observer.
#[derive(Clone, Copy)]
pub(super) struct RequestLayer(pub(super) Option<RequestObserver>);

impl<S> Layer<S> for RequestLayer {
    type Service = ObservedRequests<S>;

    fn layer(&self, inner: S) -> ObservedRequests<S> {
        ObservedRequests { inner, observer: self.0 }
    }
}

/// A service whose requests are observed.
pub(super) struct ObservedRequests<S> {
    inner: S,
    observer: Option<RequestObserver>,
}

impl<S, B> Service<Request<Body>> for ObservedRequests<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
    B: 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxedResponse<B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Some(observer) = self.observer else { return Box::pin(self.inner.call(request)) };
        let method = request.method().clone();
        let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        let begun = Instant::now();
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await;
            let status = response.as_ref().ok().map(|response| response.status().as_u16());
            let (method, path, duration) = (method.as_str(), path.as_str(), begun.elapsed());
            observer(&ApiRequestDone { method, path, status, duration });
            response
        })
    }
}
