//! A user: a jar, a connection, and the three kinds of requests.

use std::net::SocketAddr;

use bytes::Bytes;
use cookie_jar::{Jar, Origin};
use http::header::{COOKIE, HOST};
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;
use tokio::task::JoinSet;

use super::connection::{Connection, Protocol};
use super::error::ClientError;
use super::response::Response;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Headers by which a server can distinguish navigations from fetches.
const NAVIGATE: &[(&str, &str)] = &[
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("user-agent", BROWSER),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "none"),
    ("sec-fetch-user", "?1"),
    ("upgrade-insecure-requests", "1"),
];
const FETCH: &[(&str, &str)] = &[
    ("accept", "*/*"),
    ("user-agent", BROWSER),
    ("sec-fetch-dest", "empty"),
    ("sec-fetch-mode", "cors"),
    ("sec-fetch-site", "same-origin"),
];
const API: &[(&str, &str)] = &[("accept", "*/*"), ("user-agent", "curl/8.14.1")];

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A browser opens a page.
    Navigate,
    /// A script in the page fetches data.
    Fetch,
    /// A program without cookies, like `curl`: the jar is neither sent nor filled.
    Api,
}

/// One request to be sent.
#[derive(Clone, Debug)]
pub struct Visit {
    kind: Kind,
    method: Method,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Bytes,
}

impl Visit {
    /// A `GET` of this path, which may have a query.
    pub fn new(kind: Kind, path: impl Into<String>) -> Self {
        Self { kind, method: Method::GET, path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// Another method than `GET`.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets a header: the first line of a name replaces the kind's own, further ones are added. A `cookie` line is
    /// sent beside the jar's.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.as_ref().to_vec()));
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The path without the query.
    fn plain_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    fn request(&self, authority: &str, cookies: Option<String>) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request =
            Request::builder().method(&self.method).uri(&self.path).body(Full::new(self.body.clone()))?;
        let headers = request.headers_mut();
        headers.insert(HOST, value(authority.as_bytes())?);
        let own = match self.kind {
            Kind::Navigate => NAVIGATE,
            Kind::Fetch => FETCH,
            Kind::Api => API,
        };
        for (name, text) in own.iter().filter(|(name, _)| self.headers.iter().all(|(given, _)| given != name))
        {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(text));
        }
        if let Some(cookies) = cookies {
            headers.insert(COOKIE, value(cookies.as_bytes())?);
        }
        for (name, bytes) in &self.headers {
            headers
                .append(HeaderName::from_bytes(name.as_bytes()).map_err(http::Error::from)?, value(bytes)?);
        }
        Ok(request)
    }
}

/// A user: one jar, one kept-alive connection. Redirects are answers; nothing is followed.
#[derive(Debug)]
pub struct User {
    /// The cookies.
    pub jar: Jar,
    connection: Connection,
    authority: String,
    as_if_tls: bool,
}

impl User {
    /// A user who reaches the host `authority` (`shop.example`, with or without port) at this address.
    pub fn new(address: SocketAddr, authority: impl Into<String>, protocol: Protocol) -> Self {
        let connection = Connection::new(address, protocol);
        Self { jar: Jar::new(), connection, authority: authority.into(), as_if_tls: false }
    }

    /// As [`User::new`], over HTTP/1.1.
    pub fn http1(address: SocketAddr, authority: impl Into<String>) -> Self {
        Self::new(address, authority, Protocol::Http1)
    }

    /// As [`User::new`], over HTTP/2.
    pub fn http2(address: SocketAddr, authority: impl Into<String>) -> Self {
        Self::new(address, authority, Protocol::Http2)
    }

    /// Treats the plain connection as https in all cookie rules: `Secure` and `__Host-` cookies are kept and sent.
    #[must_use]
    pub fn as_if_tls(mut self) -> Self {
        self.as_if_tls = true;
        self
    }

    /// Opens a page.
    pub async fn navigate(&mut self, path: &str) -> Result<Response, ClientError> {
        self.send(&Visit::new(Kind::Navigate, path)).await
    }

    /// Fetches data, as a script of a page.
    pub async fn fetch(&mut self, path: &str) -> Result<Response, ClientError> {
        self.send(&Visit::new(Kind::Fetch, path)).await
    }

    /// Asks like `curl`: no cookies sent, none kept.
    pub async fn api(&mut self, path: &str) -> Result<Response, ClientError> {
        self.send(&Visit::new(Kind::Api, path)).await
    }

    /// Sends this request with the jar's cookies and keeps the response's.
    pub async fn send(&mut self, visit: &Visit) -> Result<Response, ClientError> {
        let request = self.request(visit)?;
        let response = self.connection.send(request).await?;
        self.keep(visit, &response);
        Ok(response)
    }

    /// Sends all these at the same time, each on a connection of its own and with the current cookies; cookies are kept
    /// in the order in which responses arrive. The results are in the order of the requests.
    pub async fn send_at_once(&mut self, visits: &[Visit]) -> Vec<Result<Response, ClientError>> {
        let mut running = JoinSet::new();
        let mut results: Vec<Option<Result<Response, ClientError>>> = Vec::new();
        for (index, visit) in visits.iter().enumerate() {
            let mut connection = self.connection.another();
            match self.request(visit) {
                Ok(request) => {
                    running.spawn(async move { (index, connection.send(request).await) });
                    results.push(None);
                }
                Err(error) => results.push(Some(Err(error))),
            }
        }
        while let Some(joined) = running.join_next().await {
            let Ok((index, result)) = joined else { continue };
            if let (Ok(response), Some(visit)) = (&result, visits.get(index)) {
                self.keep(visit, response);
            }
            if let Some(slot) = results.get_mut(index) {
                *slot = Some(result);
            }
        }
        let lost = || Err(std::io::Error::other("the task that sent the request panicked").into());
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }

    /// The `Cookie` header that a request to this path would carry.
    pub fn cookies_for(&self, path: &str) -> Option<String> {
        self.jar.header(self.origin(path.split('?').next().unwrap_or_default()))
    }

    /// Swaps the connection, e.g. for one that several users share, or for one to another gateway.
    pub fn swap_connection(&mut self, other: &mut Connection) {
        std::mem::swap(&mut self.connection, other);
    }

    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// The host, with its port if it was given one.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    fn request(&self, visit: &Visit) -> Result<Request<Full<Bytes>>, ClientError> {
        let cookies = if visit.kind == Kind::Api { None } else { self.cookies_for(visit.plain_path()) };
        visit.request(&self.authority, cookies)
    }

    fn keep(&mut self, visit: &Visit, response: &Response) {
        if visit.kind == Kind::Api {
            return;
        }
        let origin = Origin { host: host(&self.authority), path: visit.plain_path(), secure: self.as_if_tls };
        for line in response.headers.get_all(http::header::SET_COOKIE) {
            self.jar.store(line.as_bytes(), origin);
        }
    }

    fn origin<'a>(&'a self, path: &'a str) -> Origin<'a> {
        Origin { host: host(&self.authority), path, secure: self.as_if_tls }
    }
}

/// The host without its port.
fn host(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn value(bytes: &[u8]) -> Result<HeaderValue, ClientError> {
    Ok(HeaderValue::from_bytes(bytes).map_err(http::Error::from)?)
}
