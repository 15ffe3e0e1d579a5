//! The HTTP/1.1 client of this program: every request has a timeout, every response a limit of bytes.
//!
//! ```text
//! client   a request                  -> head and body of the response
//! redirect where a response sends     -> the next address
//! tls      whom to trust              -> a connector
//! ```
//!
//! Its errors say what happened and not what was asked for: `verify`, the registry client and the local target add their URL or address.

mod client;
mod redirect;
mod tls;

pub(crate) use client::{HttpClient, HttpError, Limits};
pub(crate) use redirect::{MAX_REDIRECTS, RedirectError, location};
pub(crate) use tls::{TlsConnector, TlsError, connector};
