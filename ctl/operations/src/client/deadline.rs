//! The time within which a response has to be there: its head and its body. A read timeout alone begins again with each byte.

use super::silence::BoxedResponse;
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use kube::client::Body;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tower::{BoxError, Layer, Service};

/// An operation that ends with the silence of the API server ends before its request.
pub(super) const AFTER_SILENCE: Duration = Duration::from_millis(250);

/// The error of a response that is not there in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the whole response within {0:?}, found a part of it, or none")]
struct LateResponse(Duration);

/// Whether a response ends when its server wants: of a watch, of a log that is followed, and of what a proxy is asked.
pub(super) fn is_open_ended(request: &Request<Body>) -> bool {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let asks_for = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.any(|(found, value)| found == name && matches!(value, "true" | "1"))
    };
    path.contains("/proxy/") || path.ends_with("/portforward") || asks_for("watch") || asks_for("follow")
}

/// Limits each request of a client.
#[derive(Clone, Copy)]
pub(super) struct DeadlineLayer(pub(super) Duration);

impl<S> Layer<S> for DeadlineLayer {
    type Service = LimitedRequests<S>;

    fn layer(&self, inner: S) -> LimitedRequests<S> {
        LimitedRequests { inner, limit: self.0 }
    }
}

/// A service whose requests are limited.
pub(super) struct LimitedRequests<S> {
    inner: S,
    limit: Duration,
}

impl<S, B> Service<Request<Body>> for LimitedRequests<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
    B: HttpBody + Send + 'static,
{
    type Response = Response<TimedBody<B>>;
    type Error = BoxError;
    type Future = BoxedResponse<TimedBody<B>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (limit, is_open_ended) = (self.limit, is_open_ended(&request));
        let response = self.inner.call(request);
        Box::pin(async move {
            if is_open_ended {
                return Ok(response.await?.map(|body| TimedBody { body: Box::pin(body), limit: None }));
            }
            let end = Instant::now() + limit + AFTER_SILENCE;
            let response = timeout_at(end, response).await.map_err(|_| LateResponse(limit))??;
            let limit = Some((Box::pin(sleep_until(end)), LateResponse(limit)));
            Ok(response.map(|body| TimedBody { body: Box::pin(body), limit }))
        })
    }
}

/// A body that is an error once its time is over.
pub(super) struct TimedBody<B> {
    body: Pin<Box<B>>,
    limit: Option<(Pin<Box<Sleep>>, LateResponse)>,
}

impl<B: HttpBody<Error: Into<BoxError>>> HttpBody for TimedBody<B> {
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        if let Poll::Ready(frame) = self.body.as_mut().poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some((end, late)) = &mut self.limit else { return Poll::Pending };
        ready!(end.as_mut().poll(context));
        Poll::Ready(Some(Err((*late).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watches_logs_that_are_followed_and_proxies_have_no_deadline() {
        for (uri, expected) in [
            ("/api/v1/namespaces/shop/pods", false),
            ("/api/v1/namespaces/shop/pods?watch=false&labelSelector=watch", false),
            ("/api/v1/namespaces/shop/pods/watch", false),
            ("/api/v1/namespaces/shop/pods/a/log", false),
            ("/api/v1/namespaces/shop/pods?&watch=true&resourceVersion=1", true),
            ("/api/v1/namespaces/shop/pods/a/log?follow=true", true),
            ("/api/v1/namespaces/shop/pods/a:15090/proxy/stats/prometheus", true),
            ("/api/v1/namespaces/shop/pods/a/portforward?ports=15090", true),
        ] {
            let request = Request::get(uri).body(Body::empty()).unwrap();
            assert_eq!(is_open_ended(&request), expected, "{uri}");
        }
    }
}
