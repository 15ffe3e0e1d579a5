//! How long the API server has been silent: it has requests, and finishes the response to none of them.

use super::deadline::is_open_ended;
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use kube::client::Body;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep, timeout};
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
    /// Requests without a whole response.
    open: usize,
    /// When the oldest of them was sent, or the last response was complete.
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

/// A request without a whole response; dropped at the end of its response, or when its caller gives up.
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

impl SilenceLayer {
    /// Calls the observer if it is time.
    fn report(&self) {
        if let (Some(report), Some(duration)) = (self.observer, self.silence.to_report()) {
            report(&self.address, duration);
        }
    }
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
    B: HttpBody + Send + 'static,
{
    type Response = Response<ObservedBody<B>>;
    type Error = BoxError;
    type Future = BoxedResponse<ObservedBody<B>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Whether a proxy responds says nothing of the API server, and a watch is silent where nothing changes.
        let is_open_ended = is_open_ended(&request);
        let response = self.inner.call(request);
        let layer = self.layer.clone();
        Box::pin(async move {
            if is_open_ended {
                return Ok(response.await?.map(|body| ObservedBody { body: Box::pin(body), open: None }));
            }
            let open = layer.silence.begin();
            let mut response = pin!(response);
            let response = loop {
                if let Ok(done) = timeout(PRECISION, &mut response).await {
                    break done?;
                }
                layer.report();
            };
            let open = OpenBody { _request: open, layer, tick: Box::pin(sleep(PRECISION)) };
            Ok(response.map(|body| ObservedBody { body: Box::pin(body), open: Some(open) }))
        })
    }
}

/// A body during which the silence goes on: bytes alone are no response.
pub(super) struct ObservedBody<B> {
    body: Pin<Box<B>>,
    /// `None` once it is complete, and where its end is not awaited.
    open: Option<OpenBody>,
}

struct OpenBody {
    _request: OpenRequest,
    layer: SilenceLayer,
    /// The next look at the silence.
    tick: Pin<Box<Sleep>>,
}

impl<B: HttpBody> HttpBody for ObservedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        if let Poll::Ready(frame) = self.body.as_mut().poll_frame(context) {
            if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
                self.open = None;
            }
            return Poll::Ready(frame);
        }
        if let Some(open) = &mut self.open {
            while open.tick.as_mut().poll(context).is_ready() {
                open.layer.report();
                open.tick = Box::pin(sleep(PRECISION));
            }
        }
        Poll::Pending
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
