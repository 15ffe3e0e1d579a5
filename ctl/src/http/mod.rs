//! The HTTP/1.1 client of this program: every request has a timeout, every response a limit of bytes.
//!
//! ```text
//! client   a request                  -> head and body of the response
//! download the address of a file      -> its bytes, over redirects
//! redirect where a response sends     -> the next address
//! tls      whom to trust              -> a connector
//! ```
//!
//! Its errors say what happened and not what was asked for: `verify`, downloads and the local target add their URL or address.

mod client;
mod download;
mod redirect;
mod tls;

pub(crate) use client::{HttpClient, HttpError, Limits};
pub(crate) use download::{DownloadError, download};
use redirect::{MAX_REDIRECTS, RedirectError, location};
/// The innermost cause of an error: what libraries put around it is for programmers.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

pub(crate) use tls::{TlsConnector, TlsError, connector};
