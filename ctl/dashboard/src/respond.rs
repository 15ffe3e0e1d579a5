//! Responses. Each has the headers that keep other sites away and let the page do only what it needs.
//!
//! # Source
//! [Content Security Policy 3](https://www.w3.org/TR/CSP3/), [Trusted Types](https://www.w3.org/TR/trusted-types/),
//! [`Cross-Origin-Resource-Policy`](https://fetch.spec.whatwg.org/#cross-origin-resource-policy-header).

use crate::assets::Asset;
use crate::route::NoRoute;
use crate::{ApiError, Rejection};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// The body of a response.
pub(crate) type Body = Full<Bytes>;

/// Scripts, styles and data of this server alone; no frame, no form, no text that becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A file of the page.
pub(crate) fn asset(asset: &Asset) -> Response<Body> {
    response(StatusCode::OK, asset.media_type, Bytes::from_static(asset.content.as_bytes()))
}

/// Data, or why there are none.
pub(crate) fn json<T: Serialize>(found: Result<T, ApiError>) -> Response<Body> {
    let (status, text) = match found {
        Ok(data) => (StatusCode::OK, serde_json::to_vec(&data)),
        Err(error) => (error.status, serde_json::to_vec(&error)),
    };
    match text {
        Ok(text) => response(status, "application/json", text.into()),
        Err(error) => response(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", error.to_string().into()),
    }
}

/// Nothing: there is no such path, or not with this method.
pub(crate) fn no_route(why: NoRoute) -> Response<Body> {
    let (status, text) = match why {
        NoRoute::Path => (StatusCode::NOT_FOUND, "expected a path of the dashboard, found another"),
        NoRoute::Method => (StatusCode::METHOD_NOT_ALLOWED, "expected another method"),
    };
    json::<()>(Err(ApiError { status, error: text.to_owned(), hint: None }))
}

/// Nothing, for this sender.
pub(crate) fn rejected(why: Rejection) -> Response<Body> {
    let status = match why {
        Rejection::Host => StatusCode::MISDIRECTED_REQUEST,
        Rejection::Site | Rejection::ReadOnly => StatusCode::FORBIDDEN,
        Rejection::Token => StatusCode::UNAUTHORIZED,
        Rejection::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
    };
    let hint = match why {
        Rejection::ReadOnly => "start another one without `--read-only`",
        _ => "open the URL that `canary-ctl dashboard` has printed",
    };
    json::<()>(Err(ApiError { status, error: why.to_string(), hint: Some(hint.to_owned()) }))
}

fn response(status: StatusCode, media_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
