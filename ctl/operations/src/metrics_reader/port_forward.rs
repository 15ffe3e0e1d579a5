//! Connections to proxies through the kubelet, as `kubectl port-forward` makes them. One stays open for each proxy, because a wait
//! asks every proxy ten times a second.

use super::failure::Failure;
use super::{MAX_BYTES, PORT};
use canary_release::metrics::PodName;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinSet;

/// The idle connections by pod. A clone shares them.
#[derive(Clone, Default)]
pub(super) struct PortForwards(Arc<Mutex<HashMap<PodName, Connection>>>);

/// An HTTP connection through the kubelet. It ends with the value.
struct Connection {
    requests: SendRequest<Empty<Bytes>>,
    /// The kubelet's text about a port that it cannot connect to.
    refusal: BoxFuture<'static, Option<String>>,
    /// Drives the connection.
    _driver: JoinSet<()>,
}

impl PortForwards {
    /// A page of a proxy.
    pub(super) async fn read(
        &self,
        client: &kube::Client,
        pod: &PodName,
        path: &str,
    ) -> Result<String, Failure> {
        let idle = self.idle().remove(pod);
        if let Some(mut connection) = idle
            && let Ok(text) = connection.get(path).await
        {
            self.idle().insert(pod.clone(), connection);
            return Ok(text);
        }
        // None, or one that the proxy or the kubelet has closed meanwhile.
        let mut connection = Connection::open(client, pod).await?;
        let text = match connection.get(path).await {
            Ok(text) => text,
            Err(failure) => {
                return Err(connection.refusal.now_or_never().flatten().map_or(failure, Failure::refused));
            }
        };
        self.idle().insert(pod.clone(), connection);
        Ok(text)
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<PodName, Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    async fn open(client: &kube::Client, (namespace, pod): &PodName) -> Result<Self, Failure> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
        let mut forwarder = pods.portforward(pod, &[PORT]).await.map_err(Failure::of)?;
        let stream = forwarder.take_stream(PORT).ok_or_else(|| Failure::refused("no stream"))?;
        let refusal = forwarder.take_error(PORT);
        let refusal = async move { refusal?.await }.boxed();
        let (requests, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| Failure::no_response(&error))?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // How it ended is known to the request that it has failed.
            drop(connection.await);
            forwarder.abort();
        });
        Ok(Self { requests, refusal, _driver: driver })
    }

    async fn get(&mut self, path: &str) -> Result<String, Failure> {
        let request = Request::get(format!("/{path}")).header(HOST, "localhost").body(Empty::new());
        let request = request.map_err(|error| Failure::no_response(&error))?;
        self.requests.ready().await.map_err(|error| Failure::no_response(&error))?;
        let response =
            self.requests.send_request(request).await.map_err(|error| Failure::no_response(&error))?;
        if response.status() != StatusCode::OK {
            return Err(Failure::NoMetrics);
        }
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        let bytes = body.map_err(|_| Failure::NoMetrics)?.to_bytes();
        String::from_utf8(bytes.into()).map_err(|_| Failure::NoMetrics)
    }
}
