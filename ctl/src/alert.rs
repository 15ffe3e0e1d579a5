//! Sends alerts of a rollout to their receivers. The URL of a receiver is a secret: no error has it.

use crate::http::{HttpClient, HttpError, Limits, connector};
use crate::report::with_causes;
use canary_operations::{AlertSender, SendError};
use canary_release::alert::Payload;
use canary_release::input_file;
use canary_release::redaction::Redaction;
use canary_release::spec::{ReceiverEndpoint, SecretSource, SecretUrl};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, StatusCode, Uri};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A claim of the record lasts three times as long.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(10), body_bytes: 256 * 1024 };
/// The id of an alert, the same however often it is sent: a receiver that knows it ignores it
/// ([Idempotency-Key](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)).
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";
const AGENT: &str = concat!("canary-ctl/", env!("CARGO_PKG_VERSION"));

/// Sends over HTTP/1.1, with TLS where the URL says so. Alerts are rare, so no connection is kept.
pub(crate) struct HttpAlertSender {
    /// Those of the driver's file, by receiver.
    endpoints: BTreeMap<String, ReceiverEndpoint>,
    limits: Limits,
}

impl HttpAlertSender {
    /// Sends to the receivers of a file.
    pub(crate) const fn new(endpoints: BTreeMap<String, ReceiverEndpoint>) -> Self {
        Self { endpoints, limits: LIMITS }
    }

    async fn post(&self, url: &SecretUrl, payload: &Payload, id: &str) -> Result<(), SendError> {
        let is_tls = url.expose().starts_with("https://");
        let connector = connector(is_tls, None).map_err(|error| SendError::last(with_causes(&error)))?;
        let http = HttpClient::new(connector, self.limits);
        let response = http.send(request(url, payload, id)?).await.map_err(|error| no_response(&error))?;
        accepted(response.status())
    }
}

impl AlertSender for HttpAlertSender {
    fn endpoint(&self, receiver: &str) -> Option<&ReceiverEndpoint> {
        self.endpoints.get(receiver)
    }

    fn url(&self, endpoint: &ReceiverEndpoint) -> Result<SecretUrl, SendError> {
        url_of(&endpoint.url_from, endpoint.url.as_ref())
    }

    fn send<'a>(
        &'a self,
        url: &'a SecretUrl,
        payload: &'a Payload,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>> {
        Box::pin(async move {
            let sent = self.post(url, payload, id).await;
            sent.map_err(|error| SendError { reason: secrets_of(url).redact(&error.reason), ..error })
        })
    }
}

/// The URL that stands there, unless that is a Secret; `inline` is the one of the file.
pub(crate) fn url_of(source: &SecretSource, inline: Option<&SecretUrl>) -> Result<SecretUrl, SendError> {
    // A driver on another machine may have it.
    let missing = || SendError::later(format!("expected a URL in {source}, found none"));
    let text = match source {
        SecretSource::Inline => return inline.cloned().ok_or_else(missing),
        SecretSource::Env(name) => std::env::var(name).map_err(|_| missing())?,
        SecretSource::File(path) => input_file::read(path)
            .map_err(|error| SendError::last(format!("cannot read {source}: {error}")))?,
        SecretSource::Secret { .. } => return Err(missing()),
    };
    text.parse::<SecretUrl>().map_err(|error| SendError::last(format!("{source}: {error}")))
}

fn request(url: &SecretUrl, payload: &Payload, id: &str) -> Result<Request<Full<Bytes>>, SendError> {
    let wrong = || SendError::last("expected a URL that HTTP can carry, found another text");
    let uri: Uri = url.expose().parse().map_err(|_| wrong())?;
    let request = Request::post(uri)
        .header(CONTENT_TYPE, payload.content_type)
        .header(USER_AGENT, AGENT)
        .header(IDEMPOTENCY_KEY, format!("\"{id}\""));
    request.body(Full::from(payload.body.to_string())).map_err(|_| wrong())
}

fn no_response(error: &HttpError) -> SendError {
    match error {
        // It was accepted or refused, and nobody reads which: sent again it might be there twice.
        HttpError::TooLarge(_) => SendError::last(with_causes(error)),
        HttpError::Exchange(_) | HttpError::Late(_) => SendError::later(with_causes(error)),
    }
}

/// A redirect is not followed: what stands behind the secret of a URL is not told another host.
fn accepted(status: StatusCode) -> Result<(), SendError> {
    match status {
        status if status.is_success() => Ok(()),
        status if is_temporary(status) => Err(SendError::later(status.to_string())),
        status => Err(SendError::last(status.to_string())),
    }
}

/// Whether the same request may be accepted later.
pub(crate) fn is_temporary(status: StatusCode) -> bool {
    status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS]
            .contains(&status)
}

/// A part of a URL from this length on is taken for random.
const MIN_RANDOM: usize = 12;

/// A URL, what follows the host in it, and the random parts of that.
pub(crate) fn secrets_of(url: &SecretUrl) -> Redaction {
    let rest = url.expose().split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let parts = path.split(['/', '?', '&', '=', '#']).filter(|part| part.len() >= MIN_RANDOM);
    Redaction::of([url.expose(), path].into_iter().chain(parts))
}

#[cfg(test)]
#[path = "alert_tests.rs"]
pub(crate) mod tests;
