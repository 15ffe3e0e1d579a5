//! A message of a test: its headers, and the properties that Envoy would have of it.

use std::collections::BTreeMap;

use super::headers::Headers;
use super::wire;

/// Property values by path, joined with NUL.
pub(crate) type Properties = BTreeMap<Vec<u8>, Vec<u8>>;

/// The head of a request, built line by line.
///
/// ```
/// use wasm_host::RequestHead;
/// RequestHead::get("/cart")
///     .authority("shop.example")
///     .header("cookie", "JSESSIONID=abc")
///     .header("cookie", [0xff, 0xfe])
///     .property(&["source", "address"], "192.0.2.1:4711");
/// ```
#[derive(Clone, Debug)]
pub struct RequestHead {
    pub(crate) headers: Headers,
    pub(crate) properties: Properties,
    pub(crate) end_of_stream: bool,
}

impl RequestHead {
    /// A `GET` without body to `shop.example`.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// Any method, without body, to `shop.example`.
    pub fn new(method: &str, path: &str) -> Self {
        let lines =
            [(":authority", "shop.example"), (":path", path), (":method", method), (":scheme", "https")];
        Self { headers: Headers::request().with(lines), properties: Properties::new(), end_of_stream: true }
    }

    /// The host, with or without port.
    #[must_use]
    pub fn authority(mut self, authority: impl AsRef<[u8]>) -> Self {
        self.headers.replace(":authority", authority);
        self
    }

    /// Adds a line; a name may be given several times.
    #[must_use]
    pub fn header(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.headers.add(name, value);
        self
    }

    /// As a browser that opens a page.
    #[must_use]
    pub fn navigation(self) -> Self {
        self.header("sec-fetch-mode", "navigate")
            .header("sec-fetch-dest", "document")
            .header("accept", "text/html")
    }

    /// What Envoy answers for this property path; beats what follows from the headers (see `properties`).
    #[must_use]
    pub fn property(mut self, path: &[&str], value: impl AsRef<[u8]>) -> Self {
        self.properties.insert(wire::encode_path(path), value.as_ref().to_vec());
        self
    }

    /// A body follows.
    #[must_use]
    pub fn with_body(mut self) -> Self {
        self.end_of_stream = false;
        self
    }
}

/// The head of a response, built line by line.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    pub(crate) headers: Headers,
    pub(crate) properties: Properties,
    pub(crate) end_of_stream: bool,
}

impl ResponseHead {
    /// A response with this status and a body to follow.
    pub fn status(status: u16) -> Self {
        Self {
            headers: Headers::response().with([(":status", status.to_string())]),
            properties: Properties::new(),
            end_of_stream: false,
        }
    }

    /// Adds a line; a name may be given several times.
    #[must_use]
    pub fn header(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.headers.add(name, value);
        self
    }

    /// No body follows.
    #[must_use]
    pub fn without_body(mut self) -> Self {
        self.end_of_stream = true;
        self
    }

    /// What Envoy answers for this path from now on, e.g. `["response", "code_details"]`.
    #[must_use]
    pub fn property(mut self, path: &[&str], value: impl AsRef<[u8]>) -> Self {
        self.properties.insert(wire::encode_path(path), value.as_ref().to_vec());
        self
    }
}
