//! One request of a shopper, one answer of the shop. A connection that the proxy closes is an error, never a retry.

use super::stage::HOST;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// Longer is an error: a shopper would have left.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a shopper asks for.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) method: Method,
    pub(super) path: String,
    /// Whether the browser loads a page, or a script of the page asks.
    pub(super) is_page: bool,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Who answered: version and pod.
    pub(super) version: String,
    pub(super) pod: String,
    /// Whether the shop did not know the session that the request brought.
    pub(super) has_lost_session: bool,
    /// The cart, where the answer shows one.
    pub(super) cart: Option<Vec<String>>,
    pub(super) set_cookies: Vec<String>,
}

#[derive(Deserialize)]
struct Body {
    cart: Vec<String>,
}

/// Asks one address, over connections that are kept.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pool: Pool<HttpConnector, Empty<Bytes>>,
    authority: String,
}

impl Client {
    pub(super) fn new(address: SocketAddr) -> Self {
        let pool = Pool::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http();
        Self { pool, authority: format!("{HOST}:{}", address.port()) }
    }

    /// Asks, with a shopper's cookies. An error is a sentence for the ledger.
    pub(super) async fn ask(&self, errand: &Errand, cookies: &str) -> Result<Answer, String> {
        let done = tokio::time::timeout(PATIENCE, async {
            let response = self.send(errand, cookies).await?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| format!("the answer broke off: {error}"))?;
            Ok(read(&parts, &body.to_bytes()))
        });
        done.await.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs())))
    }

    /// Opens a stream of the shop's and gives its body as it comes.
    pub(super) async fn stream(&self, path: &str) -> Result<Incoming, String> {
        let errand = Errand { method: Method::GET, path: path.to_owned(), is_page: false };
        Ok(self.send(&errand, "").await?.into_body())
    }

    async fn send(&self, errand: &Errand, cookies: &str) -> Result<Response<Incoming>, String> {
        let (mode, accept) =
            if errand.is_page { ("navigate", "text/html,*/*;q=0.8") } else { ("cors", "application/json") };
        let mut request = Request::builder()
            .method(errand.method.clone())
            .uri(format!("http://{}{}", self.authority, errand.path))
            .header("accept", accept)
            .header("sec-fetch-mode", mode);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies);
        }
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        self.pool.request(request).await.map_err(|error| format!("no answer: {error:?}"))
    }
}

fn read(parts: &hyper::http::response::Parts, body: &[u8]) -> Answer {
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let lines = parts.headers.get_all("set-cookie").iter();
    Answer {
        status: parts.status.as_u16(),
        version: header("x-shop-version").to_owned(),
        pod: header("x-shop-pod").to_owned(),
        has_lost_session: header("x-shop-session") == "lost",
        cart: serde_json::from_slice::<Body>(body).ok().map(|body| body.cart),
        set_cookies: lines.filter_map(|line| line.to_str().ok()).map(str::to_owned).collect(),
    }
}
