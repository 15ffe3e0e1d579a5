//! Endpoints that tests of a proxy need: what arrived, slow and streamed responses, statuses, odd cookies.

use std::io;
use std::time::Duration;

use ::http::header::{HOST, HeaderValue};
use ::http::{HeaderMap, StatusCode};
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use serde::Serialize;

use crate::refusal::Refusal;
use crate::response::{Body, DelayedResponse};
use crate::visit::{Nothing, Visit};

const MAX_SLOW_MS: u64 = 30_000;
const MAX_CHUNKS: u32 = 100_000;
const MAX_CHUNK_MS: u64 = 10_000;

/// `GET /headers`: the request as it arrived.
pub(super) fn headers(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    /// `headers` has one pair per line: names by first occurrence, repeated lines of a name in their order.
    #[derive(Serialize)]
    struct Arrived<'a> {
        #[serde(rename = ":method")]
        method: &'a str,
        #[serde(rename = ":path")]
        path: &'a str,
        #[serde(rename = ":authority")]
        authority: String,
        protocol: String,
        headers: Vec<(&'a str, String)>,
    }
    let request = visit.request;
    let authority = match request.uri.authority() {
        Some(authority) => authority.to_string(),
        None => request.headers.get(HOST).map_or_else(String::new, lossy),
    };
    let arrived = Arrived {
        method: request.method.as_str(),
        path: request.uri.path_and_query().map_or("", |path| path.as_str()),
        authority,
        protocol: format!("{:?}", request.version),
        headers: lines(&request.headers),
    };
    visit.json(&visit.current(), arrived)
}

/// `GET /slow?ms=N`: a response after N ms, at most 30 s.
pub(super) fn slow(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    let ms = visit.number("ms", 0_u64)?.min(MAX_SLOW_MS);
    Ok(visit.json(&visit.current(), Nothing {})?.after(Duration::from_millis(ms)))
}

/// `GET /stream?n=N&ms=M`: N lines (10 without it, at most 100,000), one every M ms (100; at most 10 s). With `&cut=K` the connection
/// ends after K of them.
pub(super) fn stream(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    let chunks = visit.number("n", 10_u32)?.min(MAX_CHUNKS);
    let pause = Duration::from_millis(visit.number("ms", 100_u64)?.min(MAX_CHUNK_MS));
    let cut = visit.number("cut", u32::MAX)?;
    let from = format!("{} {}", visit.shop.config.version(), visit.shop.config.pod());
    let lines = stream::unfold(1, move |line| {
        let text = format!("{from} {line}/{chunks}\n");
        async move {
            if line > chunks {
                return None;
            }
            if line > 1 {
                tokio::time::sleep(pause).await;
            }
            if line > cut {
                return Some((Err(io::ErrorKind::ConnectionAborted.into()), line));
            }
            Some((Ok::<_, io::Error>(Frame::data(Bytes::from(text))), line.saturating_add(1)))
        }
    });
    Ok(DelayedResponse::new("text/plain; charset=utf-8", Body::new(StreamBody::new(lines))))
}

/// `GET /status/CODE`: that status, 200 to 599.
pub(super) fn status(visit: &Visit<'_>, code: &str) -> Result<DelayedResponse, Refusal> {
    let parsed = code.parse().ok().filter(|code| (200..=599).contains(code));
    let Some(status) = parsed.and_then(|code: u16| StatusCode::from_u16(code).ok()) else {
        let expected = "a status from 200 to 599";
        return Err(Refusal::Value { place: "path", expected, found: code.to_owned() });
    };
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(DelayedResponse::empty(status));
    }
    Ok(visit.json(&visit.current(), Nothing {})?.status(status))
}

/// `GET /two-cookies`: a session, always new, and a preference beside it: two `Set-Cookie` lines.
pub(super) fn two_cookies(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    let new = visit.issued(visit.shop.store.open()?, crate::session::Session::default())?;
    Ok(visit.json(&new, Nothing {})?.cookie(HeaderValue::from_static("theme=dark; Path=/; Max-Age=86400")))
}

/// `GET /set?name=N&value=V&Path=/&Secure=…`: sets the cookie N; every further parameter is an attribute, in
/// order, and one without a value is a flag.
pub(super) fn set(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    let name = visit.required("name")?;
    let value = visit.param("value").unwrap_or_default();
    let mut line = format!("{name}={value}");
    for (key, value) in visit.params().filter(|(key, _)| key != "name" && key != "value") {
        line.push_str("; ");
        line.push_str(&key);
        if !value.is_empty() {
            line.push('=');
            line.push_str(&value);
        }
    }
    Ok(visit.json(&visit.current(), Nothing {})?.cookie(HeaderValue::try_from(line)?))
}

fn lines(headers: &HeaderMap) -> Vec<(&str, String)> {
    headers.iter().map(|(name, value)| (name.as_str(), lossy(value))).collect()
}

fn lossy(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}
