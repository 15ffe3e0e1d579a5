//! The shop's client for its catalog: one request, over HTTP or gRPC, with the carrier of the request that caused it.
//!
//! ```text
//! at        where the catalog is          carrier   what is propagated
//! dial      connections to it             mod       the request
//! ```

mod at;
mod carrier;
mod dial;

use std::error::Error;
use std::iter;
use std::time::Duration;

use ::http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tonic::metadata::MetadataMap;

use crate::proto::pod_client::PodClient;
use crate::proto::{AskRequest, AskResponse};
pub use at::{CatalogAt, CatalogAtError};
pub use carrier::Propagate;
pub(crate) use carrier::arrived;
use dial::Dial;

/// How long a response may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How the catalog is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Http,
    Grpc,
}

impl Via {
    /// As it is written in queries and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Grpc => "grpc",
        }
    }
}

/// Asks one catalog, over connections that it keeps.
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    origin: Uri,
    propagate: Propagate,
    http: Client<Dial, Empty<Bytes>>,
    grpc: PodClient<Client<Dial, tonic::body::Body>>,
}

/// Why the catalog gave no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HopError {
    #[error("expected a connection that holds, found: {found}")]
    Connection { found: String },
    #[error("expected status 200, found {0}")]
    Status(StatusCode),
    #[error("expected a response of a catalog, found: {0}")]
    Json(#[from] serde_json::Error),
    #[error("expected gRPC status OK, found {code:?}: {message}")]
    Grpc { code: tonic::Code, message: String },
    #[error("expected a response within {TIMEOUT:?}, found none")]
    Late,
}

impl Hop {
    pub(crate) fn new(at: &CatalogAt) -> Self {
        let dial = Dial { instead: at.address };
        let http = Client::builder(TokioExecutor::new()).build(dial.clone());
        let grpc = Client::builder(TokioExecutor::new()).http2_only(true).build(dial);
        Self {
            origin: at.origin.clone(),
            propagate: at.propagate,
            http,
            grpc: PodClient::with_origin(grpc, at.origin.clone()),
        }
    }

    /// Asks on behalf of a request with these headers.
    pub(crate) async fn ask(&self, via: Via, cause: &HeaderMap) -> Result<AskResponse, HopError> {
        let carried = self.propagate.pick(cause);
        let response = async {
            match via {
                Via::Http => self.over_http(carried).await,
                Via::Grpc => self.over_grpc(carried).await,
            }
        };
        tokio::time::timeout(TIMEOUT, response).await.unwrap_or(Err(HopError::Late))
    }

    async fn over_http(&self, carried: HeaderMap) -> Result<AskResponse, HopError> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = self.origin.clone();
        *request.headers_mut() = carried;
        let response = self.http.request(request).await.map_err(|error| broken(&error))?;
        if response.status() != StatusCode::OK {
            return Err(HopError::Status(response.status()));
        }
        let body = response.into_body().collect().await.map_err(|error| broken(&error))?;
        Ok(serde_json::from_slice(&body.to_bytes())?)
    }

    async fn over_grpc(&self, carried: HeaderMap) -> Result<AskResponse, HopError> {
        let mut request = tonic::Request::new(AskRequest {});
        *request.metadata_mut() = MetadataMap::from_headers(carried);
        // A status with a source was made on this side, of a connection that failed.
        let refused = |status: tonic::Status| match status.source() {
            Some(error) => broken(error),
            None => HopError::Grpc { code: status.code(), message: status.message().to_owned() },
        };
        Ok(self.grpc.clone().ask(request).await.map_err(refused)?.into_inner())
    }
}

/// With every cause: the outermost error has little more than "connect".
fn broken(error: &(dyn Error + 'static)) -> HopError {
    let causes: Vec<String> =
        iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
    HopError::Connection { found: causes.join(": ") }
}
