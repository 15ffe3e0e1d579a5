//! Sends requests, and reads from the answer which version gave it.

use super::answer::{Answer, Teller};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{Request, Uri};
use hyper_rustls::{ConfigBuilderExt as _, FixedServerNameResolver, HttpsConnector};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::ServerName;
use std::time::Duration;

/// How long an answer may take. Longer means that the system under test is not fit to be verified.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest body that is read; only `--version-from` looks into bodies.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be asked.
    #[error("expected a URL like `https://shop.example.com/`, found `{0}`")]
    Url(String),
    /// A header that HTTP cannot carry.
    #[error("`{0}` is no header that HTTP can carry")]
    Header(String),
    /// The system's certificates cannot be read.
    #[error("cannot read the system's certificates")]
    Certificates(#[source] std::io::Error),
    /// No TLS with this system's settings.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
    /// Nobody answers.
    #[error("no answer from {url}")]
    NoAnswer {
        /// Who was asked.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer did not come in time.
    #[error("no answer from {url} in {} s", PATIENCE.as_secs())]
    Late {
        /// Who was asked.
        url: String,
    },
}

impl ClientError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoAnswer { .. } | Self::Late { .. } => Some("is the address right, and the gateway up?"),
            Self::Certificates(_) => Some("install the system's CA certificates, or set SSL_CERT_FILE"),
            Self::Url(_) | Self::Header(_) | Self::Tls(_) => None,
        }
    }
}

/// Sends requests to one address, over connections that are kept.
pub struct Client {
    pool: Pool<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    url: Uri,
    /// The `Host` header, where it is not the address's.
    host: Option<HeaderValue>,
    teller: Teller,
}

/// Header lines of one request, in order; names may repeat.
pub(super) type Lines = Vec<(String, String)>;

impl Client {
    /// Prepares to ask a URL (`http` or `https`, HTTP/1.1), as this host where one is given.
    pub fn new(url: &str, host: Option<&str>, teller: Teller) -> Result<Self, ClientError> {
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
        let pool = Pool::builder(TokioExecutor::new()).build(connector(is_tls, server_name)?);
        Ok(Self { pool, url: parsed, host, teller })
    }

    /// Asks, with these headers and perhaps another path and query.
    pub async fn ask(&self, lines: &Lines, path_and_query: Option<&str>) -> Result<Answer, ClientError> {
        let (parts, body) = match tokio::time::timeout(PATIENCE, self.send(lines, path_and_query)).await {
            Ok(answer) => answer?,
            Err(_) => return Err(ClientError::Late { url: self.url.to_string() }),
        };
        Ok(Answer::read(&self.teller, parts.status.as_u16(), &parts.headers, &body))
    }

    /// Path and query of the address.
    pub fn path_and_query(&self) -> &str {
        self.url.path_and_query().map_or("/", hyper::http::uri::PathAndQuery::as_str)
    }

    async fn send(
        &self,
        lines: &Lines,
        path_and_query: Option<&str>,
    ) -> Result<(hyper::http::response::Parts, Bytes), ClientError> {
        let failed = |source| ClientError::NoAnswer { url: self.url.to_string(), source };
        let request = self.request(lines, path_and_query)?;
        let response = self.pool.request(request).await.map_err(|error| failed(error.into()))?;
        let (parts, body) = response.into_parts();
        // The body is read in any case: a connection with an unread body cannot be used again.
        let body = Limited::new(body, MAX_BODY).collect().await.map_err(failed)?;
        Ok((parts, body.to_bytes()))
    }

    fn request(&self, lines: &Lines, path: Option<&str>) -> Result<Request<Empty<Bytes>>, ClientError> {
        let mut parts = self.url.clone().into_parts();
        if let Some(path) = path {
            parts.path_and_query = Some(path.parse().map_err(|_| ClientError::Url(path.to_owned()))?);
        }
        let uri = Uri::from_parts(parts).map_err(|_| ClientError::Url(self.url.to_string()))?;
        let mut request = Request::new(Empty::new());
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

/// The system's certificates are read for TLS alone: a machine without any can still verify over plain HTTP. Where users'
/// name is not the address's, it is the one that TLS asks for, so that a gateway can be verified by its address.
fn connector(
    needs_tls: bool,
    server_name: Option<&str>,
) -> Result<HttpsConnector<HttpConnector>, ClientError> {
    let provider = rustls::crypto::ring::default_provider();
    let builder =
        rustls::ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions()?;
    let config = if needs_tls {
        builder.with_native_roots().map_err(ClientError::Certificates)?.with_no_client_auth()
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
    };
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
    Ok(match server_name {
        None => builder.enable_http1().build(),
        Some(name) => {
            let name = ServerName::try_from(name.to_owned())
                .map_err(|_| ClientError::Header(format!("host: {name}")))?;
            builder.with_server_name_resolver(FixedServerNameResolver::new(name)).enable_http1().build()
        }
    })
}
