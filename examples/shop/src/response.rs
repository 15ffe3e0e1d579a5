//! The result of a route: a response and its delay, so that routes do not depend on time.

use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, SET_COOKIE};
use ::http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;

/// The body of every response; one type for HTTP and gRPC, as both leave by the same connections.
pub(crate) type Body = tonic::body::Body;

/// A response, and the time to wait before it is sent.
#[derive(Debug)]
pub(crate) struct DelayedResponse {
    pub(crate) response: Response<Body>,
    pub(crate) wait: Duration,
}

impl DelayedResponse {
    /// Status 200 with this body, at once.
    pub(crate) fn new(content_type: &'static str, body: Body) -> Self {
        let mut response = Response::new(body);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        Self { response, wait: Duration::ZERO }
    }

    /// No body at all, not even a type for it.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { response: Response::new(empty()), wait: Duration::ZERO }.status(status)
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        *self.response.status_mut() = status;
        self
    }

    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    pub(crate) fn cached(mut self, how: &'static str) -> Self {
        self.response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(how));
        self
    }

    /// Adds a `Set-Cookie` line; existing lines stay.
    pub(crate) fn cookie(mut self, line: HeaderValue) -> Self {
        self.response.headers_mut().append(SET_COOKIE, line);
        self
    }
}

/// A complete body.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Body::new(Full::new(bytes.into()))
}

pub(crate) fn empty() -> Body {
    Body::empty()
}
