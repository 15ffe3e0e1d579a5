//! A whole response: status, headers, body, and the state of its connection.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Version};
use serde_json::Value;

/// A response, read to its end.
#[derive(Clone, Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Protocol it came by.
    pub protocol: Version,
    /// Headers; names in lower case, repeated lines kept apart.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The kept-alive connection was found closed and a new one was opened for this request.
    pub reopened: bool,
    /// The server closes the connection after this response (`Connection: close`).
    pub closing: bool,
    /// From sending to the last byte.
    pub elapsed: Duration,
}

impl Response {
    /// The first line of this header as text; `None` when it is missing or not ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All lines of this header as text; bytes that are not UTF-8 become U+FFFD.
    pub fn header_lines(&self, name: &str) -> Vec<String> {
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.headers.get_all(name).iter().map(text).collect()
    }

    /// All `Set-Cookie` lines.
    pub fn set_cookies(&self) -> Vec<String> {
        self.header_lines("set-cookie")
    }

    /// The body as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
