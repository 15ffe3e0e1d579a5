//! Sends requests, and reads from the response which version gave it.

use super::response::{Response, VersionSource};
use crate::http::{HttpClient, HttpError, Limits, TlsConnector, TlsError, connector, root_cause};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{Request, Uri};
use std::time::Duration;

/// Longer means that the system under test is not fit to be verified; only `--version-from` needs bodies.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(10), body_bytes: 4 * 1024 * 1024 };

/// The reason for which there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is invalid.
    #[error("expected a URL like `https://shop.example.com/`, found `{0}`")]
    Url(String),
    /// A header that is not valid in HTTP.
    #[error("`{0}` is no header that HTTP can carry")]
    Header(String),
    #[error("cannot read the system's certificates")]
    Certificates(#[source] std::io::Error),
    /// No TLS with this system's settings.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
    #[error("no response from {url}")]
    NoResponse { url: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// The response did not arrive in time.
    #[error("no response from {url} in {} s", LIMITS.timeout.as_secs())]
    Late { url: String },
}

impl ClientError {
    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoResponse { .. } | Self::Late { .. } => Some("is the address right, and the gateway up?"),
            Self::Certificates(_) => Some("install the system's CA certificates, or set SSL_CERT_FILE"),
            Self::Url(_) | Self::Header(_) | Self::Tls(_) => None,
        }
    }
}

impl From<TlsError> for ClientError {
    fn from(error: TlsError) -> Self {
        match error {
            TlsError::Certificates(source) => Self::Certificates(source),
            TlsError::Settings(source) => Self::Tls(source),
            TlsError::ServerName(name) => Self::Header(format!("host: {name}")),
        }
    }
}

/// Sends requests to one address, over connections that are kept.
pub struct Client {
    http: HttpClient<TlsConnector>,
    url: Uri,
    /// The `Host` header, where it is not the address's.
    host: Option<HeaderValue>,
    teller: VersionSource,
}

/// Header lines of one request, in order; names may repeat.
pub(super) type Lines = Vec<(String, String)>;

impl Client {
    /// Prepares to ask a URL (`http` or `https`, HTTP/1.1), as this host where one is given.
    ///
    /// # Errors
    ///
    /// If the URL or the host is invalid, or TLS cannot be set up; not if nobody answers there.
    pub fn new(url: &str, host: Option<&str>, teller: VersionSource) -> Result<Self, ClientError> {
        let wrong = || ClientError::Url(url.to_owned());
        let parsed: Uri = url.parse().map_err(|_| wrong())?;
        let is_web = matches!(parsed.scheme_str(), Some("http" | "https")) && parsed.host().is_some();
        let wrong_host = || ClientError::Header("host".to_owned());
        let authority = host.map(Authority::try_from).transpose().map_err(|_| wrong_host())?;
        let host = host.map(HeaderValue::from_str).transpose().map_err(|_| wrong_host())?;
        if !is_web {
            return Err(wrong());
        }
        let is_tls = parsed.scheme_str() == Some("https");
        let server_name = authority.as_ref().map(Authority::host);
        // If the users' host name is not that of the address, it is the TLS server name, so that a gateway can be
        // verified by its address.
        let http = HttpClient::new(connector(is_tls, server_name)?, LIMITS);
        Ok(Self { http, url: parsed, host, teller })
    }

    /// Asks, with these headers and perhaps another path and query.
    ///
    /// # Errors
    ///
    /// If a header or the path is invalid, or no response arrives; not for an error status.
    pub async fn ask(&self, lines: &Lines, path_and_query: Option<&str>) -> Result<Response, ClientError> {
        let request = self.request(lines, path_and_query)?;
        let response = self.http.send(request).await.map_err(|error| self.no_response(error))?;
        Ok(Response::read(&self.teller, response.status().as_u16(), response.headers(), response.body()))
    }

    /// Path and query of the address.
    pub fn path_and_query(&self) -> &str {
        self.url.path_and_query().map_or("/", hyper::http::uri::PathAndQuery::as_str)
    }

    fn no_response(&self, error: HttpError) -> ClientError {
        let url = self.url.to_string();
        match error {
            HttpError::Late(_) => ClientError::Late { url },
            HttpError::Exchange(source) => {
                ClientError::NoResponse { url, source: root_cause(&*source).into() }
            }
            HttpError::TooLarge(_) => ClientError::NoResponse { url, source: error.into() },
        }
    }

    fn request(&self, lines: &Lines, path: Option<&str>) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut parts = self.url.clone().into_parts();
        if let Some(path) = path {
            parts.path_and_query = Some(path.parse().map_err(|_| ClientError::Url(path.to_owned()))?);
        }
        let uri = Uri::from_parts(parts).map_err(|_| ClientError::Url(self.url.to_string()))?;
        let mut request = Request::new(Full::default());
        *request.uri_mut() = uri;
        if let Some(host) = &self.host {
            request.headers_mut().insert(hyper::header::HOST, host.clone());
        }
        for (name, value) in lines {
            let wrong = || ClientError::Header(format!("{name}: {value}"));
            let header = HeaderName::try_from(name).map_err(|_| wrong())?;
            let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            request.headers_mut().append(header, value);
        }
        Ok(request)
    }
}
