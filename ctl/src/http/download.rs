//! A file of a web server.

use super::{
    HttpClient, HttpError, Limits, MAX_REDIRECTS, RedirectError, TlsConnector, TlsError, connector, location,
    root_cause,
};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, StatusCode, Uri};
use std::time::Duration;
use url::Url;

const LIMITS: Limits = Limits { timeout: Duration::from_mins(1), body_bytes: 16 << 20 };

/// The error of reading a file of a web server.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("expected an address of HTTP, found `{0}`")]
    Url(String),
    /// The address has a user or a password, which would be printed.
    #[error("expected an address without a user, found one with")]
    UserInUrl,
    #[error("cannot set up TLS")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("no whole response from {url}")]
    NoResponse {
        /// Without its query.
        url: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("GET {url}: expected 200, found {status}")]
    Status {
        /// Without its query.
        url: String,
        status: u16,
    },
    #[error(transparent)]
    Redirect(#[from] RedirectError),
}

impl DownloadError {
    /// A hint: what the user can change.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoResponse { .. } => Some("is the address right?"),
            Self::Tls(_) => Some("install the system's CA certificates, or set SSL_CERT_FILE"),
            _ => None,
        }
    }
}

impl From<TlsError> for DownloadError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.into())
    }
}

/// Reads a file of a web server, at most 16 MiB, over redirects.
///
/// # Errors
///
/// If there is no whole response of status 200.
pub(crate) async fn download(url: &str) -> Result<Bytes, DownloadError> {
    let mut uri: Uri = url.parse().map_err(|_| DownloadError::Url(url.to_owned()))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(DownloadError::UserInUrl);
    }
    let http = client(uri.scheme_str() == Some("https"))?;
    for _ in 0..=MAX_REDIRECTS {
        let response = get(&http, &uri).await?;
        let next = if response.status().is_redirection() { location(&uri, &response)? } else { None };
        uri = match next {
            Some(next) => next,
            None if response.status() == StatusCode::OK => return Ok(response.into_body()),
            None => {
                let (url, status) = (without_query(&uri), response.status().as_u16());
                return Err(DownloadError::Status { url, status });
            }
        };
    }
    Err(RedirectError::TooMany.into())
}

/// A client that trusts the system's certificates. What begins without TLS may be redirected to it, and works on a machine
/// without certificates.
fn client(needs_tls: bool) -> Result<HttpClient<TlsConnector>, DownloadError> {
    let connector = match connector(true, None) {
        Err(_) if !needs_tls => connector(false, None)?,
        made => made?,
    };
    Ok(HttpClient::new(connector, LIMITS))
}

async fn get(http: &HttpClient<TlsConnector>, uri: &Uri) -> Result<Response<Bytes>, DownloadError> {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = uri.clone();
    let failed = |error: HttpError| DownloadError::NoResponse {
        url: without_query(uri),
        source: root_cause(&error).into(),
    };
    http.send(request).await.map_err(failed)
}

/// A query may have a signature that lets anybody read.
fn without_query(uri: &Uri) -> String {
    let origin = Url::parse(&uri.to_string()).map(|url| url.origin().ascii_serialization());
    format!("{}{}", origin.unwrap_or_default(), uri.path())
}
