//! The API server as programs reach it: HTTP on a port of this machine, with a kubeconfig.

use super::FakeApi;
use super::request::Request;
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use kube::client::Body;
use std::net::SocketAddr;
use tokio::net::TcpListener;

impl FakeApi {
    /// Responds on a free port until the runtime ends.
    pub async fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let api = self.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let api = api.clone();
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let api = api.clone();
                    async move {
                        let (head, body) = request.into_parts();
                        let body = Body::from(body.collect().await?.to_bytes().to_vec());
                        let request = Request::of(http::Request::from_parts(head, body)).await;
                        Ok::<_, hyper::Error>(api.respond(&request))
                    }
                });
                let serve = async move {
                    Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(connection), service)
                        .await
                };
                tokio::spawn(serve);
            }
        });
        address
    }

    /// A kubeconfig with this API server as its only context, whose namespace is `default`.
    pub async fn kubeconfig(&self) -> String {
        format!(
            "clusters: [{{name: fake, cluster: {{server: 'http://{}'}}}}]\nusers: []\n\
             contexts: [{{name: fake, context: {{cluster: fake, user: ''}}}}]\ncurrent-context: fake\n",
            self.listen().await
        )
    }
}
