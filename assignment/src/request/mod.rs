//! Host, path, cookies and headers of a request, read in one pass over its headers.
//!
//! Third stage: takes header pairs, gives a [`Request`] of slices into them. Values are not copied, decoded or
//! validated.

mod baggage;
mod cookies;
mod headers;
mod ours;
mod session;

pub use baggage::{BAGGAGE, baggage_members, baggage_value};
pub use cookies::{Cookies, cookie_pairs, unquoted};
pub use headers::Headers;
pub use session::{
    SessionCookie, SessionHash, session_hash, session_pin, session_pin_name, split_session_pin,
};

use crate::contract::HeaderNames;
use crate::position_of;
use ours::Ours;

/// A request, as slices into its headers.
#[derive(Clone, Copy, Debug)]
pub struct Request<'h> {
    /// All headers, for the few that only some releases name.
    pub headers: Headers<'h>,
    /// `:authority` (or `Host`), as sent.
    pub authority: &'h [u8],
    /// `:path` with its query, as sent.
    pub path: &'h [u8],
    /// `:method`.
    pub method: &'h [u8],
    /// The routing header that came in, if any: a client's forgery, or our own after an internal redirect.
    pub routing: Option<&'h [u8]>,
    /// The identity header that came in.
    pub identity: Option<&'h [u8]>,
    /// The cohort header that came in (the first line).
    pub cohort: Option<&'h [u8]>,
    /// The override header that came in.
    pub overrides: Option<&'h [u8]>,
    /// The token header that came in.
    pub token: Option<&'h [u8]>,
    /// The first line of W3C baggage that came in; all are in `headers`.
    pub baggage: Option<&'h [u8]>,
    /// `Referer`, as sent.
    pub referer: Option<&'h [u8]>,
    /// Whether one of our trusted headers came in spelt with underscores, or more than once.
    pub has_odd_spelling: bool,
    accept: Option<&'h [u8]>,
    authorization: Option<&'h [u8]>,
    content_type: Option<&'h [u8]>,
    fetch_mode: Option<&'h [u8]>,
    has_fetch_metadata: bool,
    cookies: Cookies<'h>,
}

impl<'h> Request<'h> {
    /// Reads the headers once.
    pub fn read(headers: Headers<'h>, names: &HeaderNames) -> Self {
        let mut request = Self {
            headers,
            authority: b"",
            path: b"",
            method: b"",
            routing: None,
            identity: None,
            cohort: None,
            overrides: None,
            token: None,
            baggage: None,
            referer: None,
            has_odd_spelling: false,
            accept: None,
            authorization: None,
            content_type: None,
            fetch_mode: None,
            has_fetch_metadata: false,
            cookies: Cookies::new(headers),
        };
        let mut ours = Ours::new(names);
        for (name, value) in &headers {
            if !ours.note(name, value) {
                request.note(name, value);
            }
        }
        request.has_odd_spelling = ours.has_odd_spelling;
        [request.routing, request.identity, request.cohort, request.overrides, request.token] = ours.values;
        request
    }

    fn note(&mut self, name: &'h [u8], value: &'h [u8]) {
        match name {
            b":authority" | b"host" if self.authority.is_empty() => self.authority = value,
            b":path" => self.path = value,
            b":method" => self.method = value,
            b"cookie" => self.cookies.note_line(value),
            b"baggage" => self.baggage = self.baggage.or(Some(value)),
            b"referer" => self.referer = self.referer.or(Some(value)),
            b"accept" => self.accept = self.accept.or(Some(value)),
            b"authorization" => self.authorization = self.authorization.or(Some(value)),
            b"content-type" => self.content_type = self.content_type.or(Some(value)),
            b"sec-fetch-mode" => {
                self.has_fetch_metadata = true;
                self.fetch_mode = Some(value);
            }
            b"sec-fetch-site" | b"sec-fetch-dest" => self.has_fetch_metadata = true,
            _ => {}
        }
    }

    /// All cookies of all `cookie` headers, in the order sent.
    pub fn cookies(&self) -> Cookies<'h> {
        self.cookies
    }

    /// The first value of a header that is not empty.
    pub fn header(&self, name: &str) -> Option<&'h [u8]> {
        let named = self.headers.iter().filter(|(found, _)| *found == name.as_bytes());
        named.map(|(_, value)| value).find(|value| !value.is_empty())
    }

    /// The raw value of the first query parameter of this name that is not empty.
    pub fn query(&self, name: &str) -> Option<&'h [u8]> {
        query_parameters(self.path)
            .filter_map(|parameter| parameter.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
            .find(|value| !value.is_empty())
    }

    /// Whether the query has a parameter of this name, with any value.
    pub fn has_query(&self, name: &str) -> bool {
        let is_it = |parameter: &[u8]| {
            parameter.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
        };
        query_parameters(self.path).any(is_it)
    }

    /// Whether this looks like a browser loading a page.
    ///
    /// # Source
    /// Fetch Metadata Request Headers §2.3; browsers without these headers are recognised by `Accept`.
    pub fn is_navigation(&self) -> bool {
        match (self.fetch_mode, self.has_fetch_metadata) {
            (Some(mode), _) => mode == b"navigate",
            (None, true) => false,
            (None, false) => {
                self.accept.is_some_and(|accept| accept.windows(HTML.len()).any(|part| part == HTML))
            }
        }
    }

    /// Whether the client is of a kind that keeps cookies: no pre-flight, no gRPC, no bearer token.
    pub fn may_keep_cookies(&self) -> bool {
        let grpc = self.content_type.is_some_and(|kind| kind.starts_with(b"application/grpc"));
        let bearer = self
            .authorization
            .and_then(|value| value.get(..7))
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
        self.method != b"OPTIONS" && !grpc && !bearer
    }

    /// Whether a cache may answer this request from memory.
    pub fn is_cacheable_method(&self) -> bool {
        matches!(self.method, b"GET" | b"HEAD")
    }
}

/// The media type of a page.
const HTML: &[u8] = b"text/html";

/// The parameters of a path's query, undecoded; the fragment, which no client should send, ends them.
pub fn query_parameters(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let query = position_of(b'?', path).and_then(|mark| path.get(mark + 1..)).unwrap_or_default();
    let end = position_of(b'#', query).unwrap_or(query.len());
    query.get(..end).unwrap_or_default().split(|byte| *byte == b'&')
}
