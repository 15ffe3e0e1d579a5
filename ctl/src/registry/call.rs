//! One request: redirects that it follows, and what a response says that is no success.

use super::error::RegistryError;
use crate::http::{
    HttpClient, HttpError, Limits, MAX_REDIRECTS, RedirectError, TlsConnector, connector, location,
};
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use hyper::{Method, Response, Uri};
use serde::Deserialize;
use std::time::Duration;
use url::{Host, Url};

/// A module has 150 kB; a registry takes manifests of 4 MiB at most.
const LIMITS: Limits = Limits { timeout: Duration::from_mins(1), body_bytes: MAX_BODY_BYTES };
/// The largest response that is read.
const MAX_BODY_BYTES: usize = 16 << 20;

/// What the registry says of an error is shortened to, in characters.
const MAX_SAID: usize = 200;

/// A request that may be sent again with an authorization.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Bytes,
}

impl Call {
    pub(super) fn new(method: Method, uri: Uri) -> Self {
        Self { method, uri, headers: Vec::new(), body: Bytes::new() }
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) fn body(self, body: Bytes) -> Self {
        // Hyper writes none for a body without bytes, and some servers insist on one.
        let length = HeaderValue::from(body.len());
        Self { body, ..self }.with(CONTENT_LENGTH, length)
    }

    /// The error for a status that no success has.
    pub(super) fn unexpected(&self, expected: &'static str, response: &Response<Bytes>) -> RegistryError {
        let url = without_query(&self.uri);
        let (method, status) = (self.method.to_string(), response.status().as_u16());
        RegistryError::Status { method, url, expected, status, said: said(response) }
    }
}

/// The last response of a chain of redirects, with the request that it is to.
pub(super) async fn follow(
    mut call: Call,
    mut response: Response<Bytes>,
    exchange: impl AsyncFn(&Call) -> Result<Response<Bytes>, RegistryError>,
) -> Result<(Call, Response<Bytes>), RegistryError> {
    for _ in 0..MAX_REDIRECTS {
        if !response.status().is_redirection() {
            break;
        }
        let Some(next) = location(&call.uri, &response)? else { break };
        call = Call::new(Method::GET, next);
        response = exchange(&call).await?;
    }
    if response.status().is_redirection() { Err(RedirectError::TooMany.into()) } else { Ok((call, response)) }
}

/// A client that trusts the system's certificates. What begins without TLS may be redirected to it, and works on a machine
/// without certificates.
pub(super) fn http_client(needs_tls: bool) -> Result<HttpClient<TlsConnector>, RegistryError> {
    let connector = match connector(true, None) {
        Err(_) if !needs_tls => connector(false, None)?,
        made => made?,
    };
    Ok(HttpClient::new(connector, LIMITS))
}

pub(super) fn no_response(uri: &Uri, error: HttpError) -> RegistryError {
    RegistryError::NoResponse { url: without_query(uri), source: error.into() }
}

/// Scheme, host and port, the usual port left out.
pub(super) fn origin_of(uri: &Uri) -> String {
    Url::parse(&uri.to_string()).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// Whether an address is on this machine, by its name.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A query may have a signature that lets anybody read.
pub(super) fn without_query(uri: &Uri) -> String {
    format!("{}{}", origin_of(uri), uri.path())
}

pub(super) fn refused(server: &str, response: &Response<Bytes>) -> RegistryError {
    let status = response.status().as_u16();
    RegistryError::Refused { server: server.to_owned(), status, said: said(response) }
}

#[derive(Deserialize)]
struct SaidErrors {
    errors: Vec<SaidError>,
}

#[derive(Deserialize)]
struct SaidError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// What the registry says of an error, after a colon (OCI distribution specification, *Error codes*).
pub(super) fn said(response: &Response<Bytes>) -> String {
    let said = serde_json::from_slice::<SaidErrors>(response.body()).ok();
    let first = said.and_then(|said| said.errors.into_iter().next());
    let text = first.map(|error| format!(": {} {}", error.code, error.message).trim_end().to_owned());
    text.unwrap_or_default().chars().take(MAX_SAID).collect()
}
