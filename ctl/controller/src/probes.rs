//! Probes and metrics over HTTP.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// A client that sends its head slower than this is disconnected.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// After an error of the listener, such as too many open files.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// The values of probes and metrics.
#[derive(Debug, Default)]
pub struct Gauges {
    leads: AtomicBool,
    releases: AtomicUsize,
    failures: AtomicUsize,
}

impl Gauges {
    /// Whether this replica works, and how many objects it has.
    pub(crate) fn set(&self, leads: bool, releases: usize) {
        self.leads.store(leads, Ordering::Relaxed);
        self.releases.store(releases, Ordering::Relaxed);
    }

    /// A reconciliation or a watch has failed.
    pub(crate) fn fail(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    fn text(&self) -> String {
        let number = |value: &AtomicUsize| value.load(Ordering::Relaxed);
        let leads = u8::from(self.leads.load(Ordering::Relaxed));
        let (releases, failures) = (number(&self.releases), number(&self.failures));
        format!(
            "# TYPE leader_election_master_status gauge\nleader_election_master_status{{name=\"canary-controller\"}} {leads}\n\
             # TYPE canary_controller_releases gauge\ncanary_controller_releases {releases}\n\
             # TYPE canary_controller_errors_total counter\ncanary_controller_errors_total {failures}\n"
        )
    }
}

/// Serves `/livez`, `/readyz` and `/metrics` until the future is dropped. A replica that waits for the Lease is ready: it takes over.
pub async fn serve(listener: TcpListener, gauges: Arc<Gauges>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_BACKOFF).await;
            continue;
        };
        let gauges = Arc::clone(&gauges);
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(request.uri().path(), &gauges);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(READ_TIMEOUT);
            // A probe that breaks off is repeated.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn respond(path: &str, gauges: &Gauges) -> Response<Full<Bytes>> {
    let (status, text) = match path {
        "/livez" | "/readyz" => (StatusCode::OK, "ok\n".to_owned()),
        "/metrics" => (StatusCode::OK, gauges.text()),
        _ => (StatusCode::NOT_FOUND, "not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response
}
