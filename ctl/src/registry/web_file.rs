//! A file of a web server, which is no registry.

use super::call::{Call, follow, http_client, no_response};
use super::error::RegistryError;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, Uri};

/// Reads a file of a web server, at most 16 MiB, over redirects.
///
/// # Errors
///
/// If there is no whole response of status 200.
pub(crate) async fn read_url(url: &str) -> Result<Bytes, RegistryError> {
    let uri: Uri = url.parse().map_err(|_| RegistryError::Url(url.to_owned()))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(RegistryError::UserInUrl);
    }
    let http = http_client(uri.scheme_str() == Some("https"))?;
    let exchange = async |call: &Call| {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = call.uri.clone();
        http.send(request).await.map_err(|error| no_response(&call.uri, error))
    };
    let call = Call::new(Method::GET, uri);
    let first = exchange(&call).await?;
    let (call, response) = follow(call, first, exchange).await?;
    match response.status() {
        StatusCode::OK => Ok(response.into_body()),
        _ => Err(call.unexpected("200", &response)),
    }
}
