//! Connections: each request is checked, then routed, then read from the source.

use crate::change::MAX_BODY;
use crate::respond::{self, Body};
use crate::{ApiError, ChangeRequest, DashboardRoute, ReleaseSource, ReleaseView, RequestCheck};
use canary_release::spec::ReleaseName;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::LocalSet;

/// A client that sends its head, or its body, slower than this is disconnected.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections at the same time; a browser opens six.
const MAX_CONNECTIONS: usize = 64;
/// After an error of the listener, such as too many open files.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

struct Server<S> {
    check: RequestCheck,
    source: S,
}

impl<S> Server<S> {
    /// A read-only page has no buttons.
    fn with_buttons(&self, view: ReleaseView) -> ReleaseView {
        let changes = if self.check.is_read_only() { Vec::new() } else { view.changes };
        ReleaseView { changes, ..view }
    }
}

/// Serves the page, its data and its changes until the future is dropped.
pub async fn serve<S: ReleaseSource + 'static>(listener: TcpListener, check: RequestCheck, source: S) {
    let server = Rc::new(Server { check, source });
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
                serve_connection(stream, &server).await;
                drop(slot);
            });
        }
    };
    LocalSet::new().run_until(accept).await;
}

async fn serve_connection<S: ReleaseSource + 'static>(stream: TcpStream, server: &Rc<Server<S>>) {
    let service = service_fn(move |request: Request<Incoming>| async move {
        Ok::<_, Infallible>(respond(request, server).await)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(READ_TIMEOUT);
    // A connection that breaks is the browser's affair; it opens another.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond<S: ReleaseSource + 'static>(
    request: Request<Incoming>,
    server: &Rc<Server<S>>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Server { check, source } = &**server;
    if let Err(rejection) = check.check_host(&head) {
        return respond::rejected(rejection);
    }
    let route = match DashboardRoute::of(&head.method, head.uri.path()) {
        Ok(route) => route,
        Err(none) => return respond::no_route(none),
    };
    if let Err(rejection) = check.check(&route, &head) {
        return respond::rejected(rejection);
    }
    match route {
        DashboardRoute::Asset(asset) => respond::asset(asset),
        DashboardRoute::Releases => respond::json(source.releases().await),
        DashboardRoute::Release(name) => {
            respond::json(source.release(&name).await.map(|view| server.with_buttons(view)))
        }
        DashboardRoute::Change(name) => match read(body).await {
            Ok(request) => respond::json(change(Rc::clone(server), name, request).await),
            Err(error) => respond::json::<()>(Err(error)),
        },
    }
}

/// Carries out a change. A browser that goes away does not interrupt it: half a rollback would be left.
async fn change<S: ReleaseSource + 'static>(
    server: Rc<Server<S>>,
    name: ReleaseName,
    request: ChangeRequest,
) -> Result<crate::ChangeReport, ApiError> {
    let task = tokio::task::spawn_local(async move { server.source.change(&name, &request).await });
    task.await.unwrap_or_else(|error| {
        let error = format!("the change was interrupted: {error}");
        Err(ApiError { status: StatusCode::INTERNAL_SERVER_ERROR, error, hint: None })
    })
}

async fn read(body: Incoming) -> Result<ChangeRequest, ApiError> {
    let limited = Limited::new(body, MAX_BODY).collect();
    let fault = |status, error: String| ApiError { status, error, hint: None };
    let read = tokio::time::timeout(READ_TIMEOUT, limited).await;
    let late = |_| fault(StatusCode::REQUEST_TIMEOUT, "expected the whole body in time".to_owned());
    let body = read.map_err(late)?.map_err(|error| {
        fault(StatusCode::PAYLOAD_TOO_LARGE, format!("expected a body of {MAX_BODY} bytes at most: {error}"))
    })?;
    ChangeRequest::parse(&body.to_bytes())
}
