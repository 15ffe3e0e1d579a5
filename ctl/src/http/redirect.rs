//! Where a response sends its reader.

use hyper::body::Bytes;
use hyper::header::LOCATION;
use hyper::{Response, Uri};
use url::Url;

/// Redirects that are followed; browsers stop at 20.
pub(crate) const MAX_REDIRECTS: usize = 5;

/// The reason for which a redirect is not followed.
#[derive(Debug, thiserror::Error)]
pub enum RedirectError {
    /// No address, or none of HTTP.
    #[error("expected a redirect to an address of HTTP, found `{0}`")]
    NoAddress(String),
    /// The redirect leads from TLS to plain HTTP.
    #[error("expected a redirect to an `https` address, found `{0}`")]
    Plain(String),
    #[error("expected at most {MAX_REDIRECTS} redirects, found more")]
    TooMany,
}

/// The address that a response names, relative to the requested one; `None` if it names none. From `https` it leads to `https`.
///
/// # Errors
///
/// If it is no address of HTTP, or leads from `https` to `http`.
pub(crate) fn location(requested: &Uri, response: &Response<Bytes>) -> Result<Option<Uri>, RedirectError> {
    let Some(value) = response.headers().get(LOCATION) else { return Ok(None) };
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let wrong = || RedirectError::NoAddress(text.clone());
    let base = Url::parse(&requested.to_string()).map_err(|_| wrong())?;
    let url = base.join(&text).map_err(|_| wrong())?;
    match (requested.scheme_str(), url.scheme()) {
        (Some("https"), "http") => return Err(RedirectError::Plain(text)),
        (_, "http" | "https") if url.username().is_empty() && url.password().is_none() => {}
        _ => return Err(wrong()),
    }
    url.as_str().parse().map(Some).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(requested: &str, value: &str) -> Result<Option<String>, String> {
        let response = Response::builder().status(307).header(LOCATION, value).body(Bytes::new()).unwrap();
        let found = location(&requested.parse().unwrap(), &response);
        found.map(|uri| uri.map(|uri| uri.to_string())).map_err(|error| error.to_string())
    }

    #[test]
    fn an_address_may_be_relative_or_whole() {
        for (requested, value, expected) in [
            ("http://a.test/v2/x", "/other?y=%2F", "http://a.test/other?y=%2F"),
            ("https://a.test/v2/x", "y", "https://a.test/v2/y"),
            ("https://a.test:5000/v2/x", "https://b.test/y", "https://b.test/y"),
            ("http://a.test/v2/x", "https://a.test/v2/x", "https://a.test/v2/x"),
        ] {
            assert_eq!(of(requested, value), Ok(Some(expected.to_owned())), "{value}");
        }
        let without = Response::builder().body(Bytes::new()).unwrap();
        assert!(location(&"http://a.test/".parse().unwrap(), &without).unwrap().is_none());
    }

    #[test]
    fn nothing_leads_away_from_tls_or_from_http() {
        for (requested, value, reason) in [
            ("https://a.test/", "http://a.test/", "an `https` address"),
            ("http://a.test/", "file:///etc/passwd", "an address of HTTP"),
            ("http://a.test/", "http://user:secret@b.test/", "an address of HTTP"),
            ("http://a.test/", "http://[", "an address of HTTP"),
        ] {
            let error = of(requested, value).unwrap_err();
            assert!(error.contains(reason), "{value}: {error}");
        }
    }
}
