//! A server that answers with what it was sent, for tests of the client alone.

use std::convert::Infallible;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, SET_COOKIE};
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;

/// Starts it on a port of its own; it ends with the test's runtime.
///
/// The body has one line `name: value` for each header line, after `METHOD URI`. Each `x-set-cookie` line is returned
/// as `Set-Cookie`, `x-delay` delays the response by that many milliseconds, and `/close` closes the connection
/// gracefully.
pub(crate) async fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let builder = Builder::new(TokioExecutor::new());
                // Clients of these tests may break a connection; that is their business.
                builder.serve_connection(TokioIo::new(stream), service_fn(answer)).await.ok();
            });
        }
    });
    address
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut body = format!("{} {}\n", request.method(), request.uri());
    let mut response = Response::new(Full::default());
    for (name, value) in request.headers() {
        let text = value.as_bytes().escape_ascii();
        writeln!(body, "{name}: {text}").expect("a string takes everything");
        if name == "x-set-cookie" {
            response.headers_mut().append(SET_COOKIE, value.clone());
        }
        if name == "x-delay" {
            let milliseconds = value.to_str().expect("a number").parse().expect("a number");
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
    }
    if request.uri().path() == "/close" {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    *response.body_mut() = body.into();
    Ok(response)
}
