//! Calls the hooks of a rollout. Their URLs and the keys that sign their requests are secrets: no error has one.

mod signature;

use crate::alert::{IDEMPOTENCY_KEY, is_temporary, secrets_of, url_of};
use crate::http::{HttpClient, HttpError, Limits, connector};
use crate::report::with_causes;
use canary_operations::{HookCaller, SecretReader};
use canary_release::hook::{HookError, HookPayload};
use canary_release::input_file;
use canary_release::redaction::Redaction;
use canary_release::spec::{HookEndpoint, RolloutHook, SecretSource, SecretUrl};
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Response, StatusCode};
use jiff::Timestamp;
use signature::SignatureKeys;
use std::collections::BTreeMap;
use std::time::Duration;

/// A load tester may send back what a command has printed.
const BODY_BYTES: usize = 1 << 20;
/// Of a body, so many characters are a part of the reason.
const MAX_TEXT: usize = 200;
/// Reading a Secret takes no longer.
const SECRET_TIMEOUT: Duration = Duration::from_secs(10);
/// Before the first retry; doubled before each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// No wait between two attempts is longer.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
const AGENT: &str = concat!("canary-ctl/", env!("CARGO_PKG_VERSION"));

/// Calls over HTTP/1.1, with TLS where the URL says so.
pub(crate) struct HttpHookCaller {
    /// Those of the driver's file, by hook.
    endpoints: BTreeMap<String, HookEndpoint>,
    /// Of the release's namespace; `None` where no cluster is connected.
    secrets: Option<SecretReader>,
    first_backoff: Duration,
}

impl HttpHookCaller {
    /// Calls the endpoints of a file.
    pub(crate) const fn new(
        endpoints: BTreeMap<String, HookEndpoint>,
        secrets: Option<SecretReader>,
    ) -> Self {
        Self { endpoints, secrets, first_backoff: FIRST_BACKOFF }
    }

    /// The body for a hook, with the metadata of the file.
    fn body(endpoint: &HookEndpoint, payload: HookPayload) -> Result<Bytes, HookError> {
        let payload = payload.with_metadata(&endpoint.metadata);
        let body = serde_json::to_vec(&payload).map_err(|error| HookError::no_response(error.to_string()));
        body.map(Bytes::from)
    }

    async fn try_call(
        &self,
        hook: &RolloutHook,
        payload: HookPayload,
        id: Option<&str>,
    ) -> Result<(), HookError> {
        let missing = || {
            let message = format!("expected hook `{}` in the file of the driver, found none", hook.name);
            HookError::no_response(message)
        };
        let endpoint = self.endpoints.get(&hook.name).ok_or_else(missing)?;
        let url = self.url(endpoint).await?;
        let signature = match &endpoint.signature_key_from {
            Some(source) => Some((self.signature_keys(source).await?, request_id(hook, &payload, id))),
            None => None,
        };
        let body = Self::body(endpoint, payload)?;
        let timeout = Duration::from_secs(endpoint.timeout.get());
        let call = Call { url: &url, timeout, body, id, signature };
        self.attempts(&call, endpoint.retries).await
    }

    /// The URL as it stands there now.
    async fn url(&self, endpoint: &HookEndpoint) -> Result<SecretUrl, HookError> {
        let source = &endpoint.url_from;
        if !matches!(source, SecretSource::Secret { .. }) {
            let url = url_of(source, endpoint.url.as_ref());
            return url.map_err(|error| HookError::no_response(error.reason));
        }
        let text = self.secret(source, "a URL").await?;
        text.parse::<SecretUrl>().map_err(|error| HookError::no_response(format!("{source}: {error}")))
    }

    /// The keys as they stand there now. A request that cannot be signed is not sent.
    async fn signature_keys(&self, source: &SecretSource) -> Result<SignatureKeys, HookError> {
        let text = self.secret(source, "a key").await?;
        text.parse::<SignatureKeys>().map_err(|error| HookError::no_response(format!("{source}: {error}")))
    }

    /// The secret in a place outside of the file of the release.
    async fn secret(&self, source: &SecretSource, expected: &str) -> Result<String, HookError> {
        let missing = || HookError::no_response(format!("expected {expected} in {source}, found none"));
        match source {
            SecretSource::Inline => Err(missing()),
            SecretSource::Env(name) => std::env::var(name).map_err(|_| missing()),
            SecretSource::File(path) => input_file::read(path)
                .map_err(|error| HookError::no_response(format!("cannot read {source}: {error}"))),
            SecretSource::Secret { name, key } => {
                let secrets = self.secrets.as_ref().ok_or_else(missing)?;
                let read = tokio::time::timeout(SECRET_TIMEOUT, secrets.read(name, key)).await;
                let read =
                    read.map_err(|_| HookError::no_response(format!("{source}: no response in time")))?;
                read.map_err(|error| HookError::no_response(with_causes(&error)))?.ok_or_else(missing)
            }
        }
    }

    async fn attempts(&self, call: &Call<'_>, retries: u32) -> Result<(), HookError> {
        let mut backoff = self.first_backoff;
        for _ in 0..retries {
            match call.attempt().await {
                Err(error) if !error.is_final => tokio::time::sleep(backoff).await,
                ended => return ended,
            }
            backoff = backoff.saturating_mul(2).min(MAX_BACKOFF);
        }
        call.attempt().await
    }
}

impl HookCaller for HttpHookCaller {
    fn call<'a>(
        &'a self,
        hook: &'a RolloutHook,
        payload: HookPayload,
        id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        Box::pin(self.try_call(hook, payload, id))
    }
}

/// A call, the same in each attempt.
struct Call<'c> {
    url: &'c SecretUrl,
    timeout: Duration,
    body: Bytes,
    id: Option<&'c str>,
    /// The keys that sign it, and its id.
    signature: Option<(SignatureKeys, String)>,
}

impl Call<'_> {
    /// One attempt. Its error has neither the URL nor the signatures, also where a response repeats them.
    async fn attempt(&self) -> Result<(), HookError> {
        let mut redaction = secrets_of(self.url);
        let sent = self.send(&mut redaction).await;
        sent.map_err(|error| HookError { reason: redaction.redact(&error.reason), ..error })
    }

    async fn send(&self, redaction: &mut Redaction) -> Result<(), HookError> {
        let wrong = |reason| HookError { is_final: true, ..HookError::no_response(reason) };
        let is_tls = self.url.expose().starts_with("https://");
        let connector = connector(is_tls, None).map_err(|error| wrong(with_causes(&error)))?;
        let request = self
            .request()
            .map_err(|_| wrong("expected a URL that HTTP can carry, found another text".to_owned()))?;
        signature::signatures(request.headers()).for_each(|signature| redaction.add(signature));
        let http = HttpClient::new(connector, Limits { timeout: self.timeout, body_bytes: BODY_BYTES });
        let response = http.send(request).await.map_err(|error| match error {
            HttpError::TooLarge(_) => wrong(with_causes(&error)),
            HttpError::Exchange(_) | HttpError::Late(_) => HookError::no_response(with_causes(&error)),
        })?;
        accepted(&response)
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let mut request = Request::post(self.url.expose())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT);
        if let Some(id) = self.id {
            request = request.header(IDEMPOTENCY_KEY, format!("\"{id}\""));
        }
        if let Some((keys, id)) = &self.signature {
            request = keys.sign(request, id, Timestamp::now(), &self.body);
        }
        request.body(Full::from(self.body.clone()))
    }
}

/// The id of a signed request. A notification has one; another call is named by its rollout, its hook and its time.
fn request_id(hook: &RolloutHook, payload: &HookPayload, id: Option<&str>) -> String {
    let call = || format!("{}-{}-{}", payload.checksum, hook.name, Timestamp::now().as_microsecond());
    id.map_or_else(call, str::to_owned)
}

/// Reads the response. A redirect is not followed: the request is for this receiver.
fn accepted(response: &Response<Bytes>) -> Result<(), HookError> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(response.body());
    let text: String = text.trim().chars().take(MAX_TEXT).collect();
    let reason = if text.is_empty() { status.to_string() } else { format!("{status}: {text}") };
    // A proxy says that the endpoint behind it is away.
    let is_away = [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT]
        .contains(&status);
    Err(HookError { reason, is_response: !is_away, is_final: !is_temporary(status) })
}

#[cfg(test)]
mod tests;
