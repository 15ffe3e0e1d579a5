//! A client with a cookie jar over a real connection, HTTP/1.1 or HTTP/2 by prior knowledge.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use demo_shop::{RunningShop, ShopConfig};
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) async fn open_shop(version: &str, pod: &str) -> Result<RunningShop> {
    open_shop_with(ShopConfig::new(version, pod)?).await
}

pub(crate) async fn open_shop_with(config: ShopConfig) -> Result<RunningShop> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    Ok(demo_shop::serve(listener, config)?)
}

#[derive(Clone, Copy)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

#[derive(Clone)]
pub(crate) struct Browser {
    client: Client<HttpConnector, Full<Bytes>>,
    pub(crate) jar: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Browser {
    pub(crate) fn new(protocol: Protocol) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(matches!(protocol, Protocol::Http2));
        Self { client: builder.build_http(), jar: BTreeMap::new() }
    }

    pub(crate) async fn get(&mut self, shop: &RunningShop, path: &str) -> Result<Reply> {
        self.send(shop, Request::get(path)).await
    }

    pub(crate) async fn post(&mut self, shop: &RunningShop, path: &str) -> Result<Reply> {
        self.send(shop, Request::post(path)).await
    }

    /// Sends the request, whose uri is a path, with the jar's cookies, and keeps the cookies of the response.
    pub(crate) async fn send(
        &mut self,
        shop: &RunningShop,
        request: http::request::Builder,
    ) -> Result<Reply> {
        let mut request = request.body(Full::default())?;
        *request.uri_mut() = format!("http://{}{}", shop.local_addr(), request.uri()).parse()?;
        if !self.jar.is_empty() {
            let pairs: Vec<_> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request.headers_mut().append(COOKIE, pairs.join("; ").try_into()?);
        }
        let (head, body) = self.client.request(request).await?.into_parts();
        for line in head.headers.get_all(SET_COOKIE) {
            self.keep(line.to_str()?)?;
        }
        Ok(Reply { status: head.status, headers: head.headers, body: body.collect().await?.to_bytes() })
    }

    /// The status of a plain GET, after the whole response was read.
    pub(crate) async fn status(&self, uri: Uri) -> Result<StatusCode> {
        let (head, body) = self.client.get(uri).await?.into_parts();
        body.collect().await?;
        Ok(head.status)
    }

    fn keep(&mut self, line: &str) -> Result<()> {
        let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
        let (name, value) = pair.split_once('=').context("a cookie without =")?;
        if attributes.contains("Max-Age=0") {
            self.jar.remove(name);
        } else {
            self.jar.insert(name.to_owned(), value.to_owned());
        }
        Ok(())
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn cookies(&self) -> Vec<&str> {
        self.headers.get_all(SET_COOKIE).into_iter().filter_map(|line| line.to_str().ok()).collect()
    }
}

/// Waits until `fact` holds, for 5 s at most.
pub(crate) async fn until(fact: impl Fn() -> bool) -> Result<()> {
    let holds = async {
        while !fact() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), holds).await.context("it did not come true in 5 s")
}
