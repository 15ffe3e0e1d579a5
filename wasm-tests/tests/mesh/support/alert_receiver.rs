//! A receiver of alerts: it accepts everything, and keeps what it was sent.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The receiver. It ends with the value.
pub(crate) struct AlertReceiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Value>>>,
    _serving: JoinSet<()>,
}

impl AlertReceiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                let service = service_fn(move |request| accept(Arc::clone(&kept), request));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Self { address, received, _serving: serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks/secret", self.address)
    }

    /// The alerts in the order of their numbers, each with how often it came. Fails if one came with another content.
    pub(crate) fn alerts(&self) -> Vec<(Value, usize)> {
        let mut all: BTreeMap<u64, (Value, usize)> = BTreeMap::new();
        for alert in &*self.received.lock().unwrap() {
            let number = alert["id"].as_str().and_then(|id| id.rsplit('-').next()?.parse().ok());
            let number = number.unwrap_or_else(|| panic!("{alert} has an id with a number"));
            let (first, count) = all.entry(number).or_insert_with(|| (alert.clone(), 0));
            assert_eq!(first, alert, "the same id says the same");
            *count += 1;
        }
        all.into_values().collect()
    }
}

async fn accept(
    received: Arc<Mutex<Vec<Value>>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let alert = serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{body:?}: {error}"));
    received.lock().unwrap().push(alert);
    Ok(Response::default())
}
