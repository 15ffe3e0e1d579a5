//! Connections: each request is checked, then routed, then read from the source.

use super::respond::{self, Body};
use super::{DashboardRoute, ReleaseSource, RequestCheck};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::LocalSet;

/// A client that sends its head slower than this is disconnected.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections at the same time; a browser opens six.
const MAX_CONNECTIONS: usize = 64;
/// After an error of the listener, such as too many open files.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Serves the page and its data until the future is dropped.
pub async fn serve<S: ReleaseSource + 'static>(listener: TcpListener, check: RequestCheck, source: S) {
    let server = Rc::new((check, source));
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accept = async {
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_BACKOFF).await;
                continue;
            };
            let server = Rc::clone(&server);
            tokio::task::spawn_local(async move {
                serve_connection(stream, &server.0, &server.1).await;
                drop(slot);
            });
        }
    };
    LocalSet::new().run_until(accept).await;
}

async fn serve_connection<S: ReleaseSource>(stream: TcpStream, check: &RequestCheck, source: &S) {
    let service = service_fn(move |request: Request<Incoming>| async move {
        Ok::<_, Infallible>(respond(&request.into_parts().0, check, source).await)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    // A connection that breaks is the browser's affair; it opens another.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond<S: ReleaseSource>(
    request: &hyper::http::request::Parts,
    check: &RequestCheck,
    source: &S,
) -> Response<Body> {
    if let Err(rejection) = check.check_host(request) {
        return respond::rejected(rejection);
    }
    let route = match DashboardRoute::of(&request.method, request.uri.path()) {
        Ok(route) => route,
        Err(none) => return respond::no_route(none),
    };
    if let Err(rejection) = check.check(&route, request) {
        return respond::rejected(rejection);
    }
    match route {
        DashboardRoute::Asset(asset) => respond::asset(asset),
        DashboardRoute::Releases => respond::json(source.releases().await),
        DashboardRoute::Release(name) => respond::json(source.release(&name).await),
    }
}
