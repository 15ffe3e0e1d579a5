//! Which endpoint answers a request. Routes are plain functions of the visit and the store: no I/O, no
//! clock; the catalog has answered before.

mod assets;
mod hops;
mod page;
mod probes;
mod shopping;

use ::http::header::{ALLOW, HeaderValue};
use ::http::{Method, StatusCode};
use serde::Serialize;
use std::time::Duration;

use crate::refusal::Refusal;
use crate::response::DelayedResponse;
use crate::visit::{Nothing, Visit};

pub(crate) use hops::asks_catalog;

/// No client waits for a response so long.
const NEVER: Duration = Duration::from_hours(24);

/// How much later a slow page is answered.
const SLOW: Duration = Duration::from_millis(500);

/// The response to a visit; what goes wrong is a response as well.
pub(crate) fn answer(visit: &Visit<'_>) -> DelayedResponse {
    let response = dispatch(visit).unwrap_or_else(|refusal| refused(visit, &refusal));
    if is_page(visit.request.uri.path()) && response.wait < SLOW && visit.shop.is_slow() {
        response.after(SLOW)
    } else {
        response
    }
}

/// Whether faults concern this path.
pub(crate) fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/cart" | "/cart/add")
}

fn dispatch(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    // A preflight asks about an endpoint and must not reach it.
    if visit.request.method == Method::OPTIONS {
        return Ok(preflight());
    }
    match visit.request.uri.path() {
        "/" | "/cart" | "/cart/add" if visit.shop.hangs() => {
            Ok(DelayedResponse::empty(StatusCode::OK).after(NEVER))
        }
        "/" | "/cart" | "/cart/add"
            if visit.shop.fails() || visit.is_of_failing_user() || visit.is_new_and_fails() =>
        {
            Err(Refusal::Broken)
        }
        "/" => shopping::home(visit),
        "/cart" => shopping::cart(visit),
        "/cart/add" => shopping::add(visit),
        "/login" => shopping::login(visit),
        "/logout" => shopping::logout(visit),
        "/static/app.js" => Ok(assets::script()),
        "/landing" => assets::landing(visit),
        "/catalog" => hops::catalog(visit),
        "/healthz" if !visit.shop.life.is_ready() => Err(Refusal::Leaving),
        "/api/ping" | "/healthz" => visit.json(&visit.current(), Nothing {}),
        "/stats" => visit.json(&visit.current(), visit.shop.stats()),
        "/headers" => probes::headers(visit),
        "/slow" => probes::slow(visit),
        "/stream" => probes::stream(visit),
        "/two-cookies" => probes::two_cookies(visit),
        "/set" => probes::set(visit),
        // A handshake is handled in `http`.
        "/ws" => Err(Refusal::NoHandshake),
        path => match path.strip_prefix("/status/") {
            Some(code) => probes::status(visit, code),
            None => Err(Refusal::NotFound { path: path.to_owned() }),
        },
    }
}

/// The view of the session that the request brought, with the reason in `error`.
pub(crate) fn refused(visit: &Visit<'_>, refusal: &Refusal) -> DelayedResponse {
    #[derive(Serialize)]
    struct Reason {
        error: String,
    }
    let body = visit.json(&visit.current(), Reason { error: refusal.to_string() });
    let mut response = body
        .unwrap_or_else(|_| DelayedResponse::empty(StatusCode::INTERNAL_SERVER_ERROR))
        .status(refusal.status());
    let headers = response.response.headers_mut();
    match refusal {
        Refusal::Method { allowed, .. } => {
            headers.insert(ALLOW, HeaderValue::from_static(allowed));
        }
        Refusal::NoHandshake => {
            headers.insert(::http::header::UPGRADE, HeaderValue::from_static("websocket"));
        }
        _ => {}
    }
    response
}

fn preflight() -> DelayedResponse {
    let mut response = DelayedResponse::empty(StatusCode::NO_CONTENT);
    response.response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST, OPTIONS"));
    response
}

/// Refuses other methods than `allowed`. `HEAD` counts as `GET`.
fn only(visit: &Visit<'_>, methods: &[Method], allowed: &'static str) -> Result<(), Refusal> {
    let found = match visit.request.method {
        Method::HEAD => &Method::GET,
        ref method => method,
    };
    if methods.contains(found) {
        return Ok(());
    }
    Err(Refusal::Method { allowed, found: visit.request.method.to_string() })
}
