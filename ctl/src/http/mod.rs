//! The HTTP/1.1 client of this program: every request has a timeout, every response a limit of bytes.
//!
//! ```text
//! client   a request without a body   -> head and body of the response
//! tls      whom to trust              -> a connector
//! ```
//!
//! Its errors say what happened and not what was asked for: `verify` and the local target add their URL or address.

mod client;
mod tls;

pub(crate) use client::{HttpClient, HttpError, Limits};
pub(crate) use tls::{TlsConnector, TlsError, connector};
