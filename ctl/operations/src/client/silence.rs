//! How long the API server has been silent: it has requests, and responds to none of them.

use http::{Request, Response};
use kube::client::Body;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tower::{BoxError, Layer, Service};

/// The time without a response after which an observer is called.
const FIRST_REPORT: Duration = Duration::from_millis(700);
/// Between two further calls of the observer.
const NEXT_REPORT: Duration = Duration::from_secs(5);
/// The period in which the silence is measured.
const PRECISION: Duration = Duration::from_millis(100);

/// Called with the address of an API server that is silent, and for how long it has been.
pub type SilenceObserver = fn(&str, Duration);

/// The silence of an API server. A clone shares it.
#[derive(Clone, Debug, Default)]
pub struct Silence(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    /// Requests without a response.
    open: usize,
    /// When the oldest of them was sent, or the last response came.
    since: Option<Instant>,
    /// When the observer was called last in this silence.
    reported: Option<Instant>,
}

impl Silence {
    /// Returns once the API server has been silent for so long.
    pub async fn lasts(&self, limit: Duration) {
        while self.duration() < limit {
            sleep(PRECISION).await;
        }
    }

    /// The time of its silence; zero if no request waits.
    fn duration(&self) -> Duration {
        self.requests().duration()
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> OpenRequest {
        let mut requests = self.requests();
        if requests.open == 0 {
            *requests = Requests { since: Some(Instant::now()), ..Requests::default() };
        }
        requests.open += 1;
        OpenRequest(self.clone())
    }

    /// The duration of a silence that is to be reported now.
    fn to_report(&self) -> Option<Duration> {
        let mut requests = self.requests();
        let duration = requests.duration();
        let is_due = requests.reported.map_or(duration >= FIRST_REPORT, |last| last.elapsed() >= NEXT_REPORT);
        is_due.then(|| {
            requests.reported = Some(Instant::now());
            duration
        })
    }
}

impl Requests {
    fn duration(&self) -> Duration {
        let since = self.since.filter(|_| self.open > 0);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// A request without a response; dropped with its response, or when its caller gives up.
struct OpenRequest(Silence);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        let open = requests.open.saturating_sub(1);
        *requests = Requests { open, since: Some(Instant::now()), reported: None };
    }
}

/// Observes the silence of an API server.
#[derive(Clone)]
pub(super) struct SilenceLayer {
    pub(super) silence: Silence,
    pub(super) address: Arc<str>,
    pub(super) observer: Option<SilenceObserver>,
}

impl<S> Layer<S> for SilenceLayer {
    type Service = ObservedSilence<S>;

    fn layer(&self, inner: S) -> ObservedSilence<S> {
        ObservedSilence { inner, layer: self.clone() }
    }
}

/// A service whose requests are observed.
pub(super) struct ObservedSilence<S> {
    inner: S,
    layer: SilenceLayer,
}

/// The future of a response.
pub(super) type BoxedResponse<B> = Pin<Box<dyn Future<Output = Result<Response<B>, BoxError>> + Send>>;

impl<S, B> Service<Request<Body>> for ObservedSilence<S>
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
        let path = request.uri().path();
        // Whether a proxy responds says nothing of the API server, and its reader has a limit of its own.
        let is_to_a_proxy = path.contains("/proxy/") || path.ends_with("/portforward");
        let response = self.inner.call(request);
        if is_to_a_proxy {
            return Box::pin(response);
        }
        let layer = self.layer.clone();
        Box::pin(async move {
            let _open = layer.silence.begin();
            let mut response = pin!(response);
            loop {
                if let Ok(done) = timeout(PRECISION, &mut response).await {
                    return done;
                }
                if let (Some(report), Some(duration)) = (layer.observer, layer.silence.to_report()) {
                    report(&layer.address, duration);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_silence_begins_with_a_request_and_ends_with_any_response() {
        let silence = Silence::default();
        assert_eq!(silence.duration(), Duration::ZERO);
        let (first, second) = (silence.begin(), silence.begin());
        sleep(Duration::from_millis(30)).await;
        assert!(silence.duration() >= Duration::from_millis(30));
        drop(first);
        assert!(silence.duration() < Duration::from_millis(30), "a response came");
        drop(second);
        sleep(Duration::from_millis(5)).await;
        assert_eq!(silence.duration(), Duration::ZERO, "no request waits");
    }
}
