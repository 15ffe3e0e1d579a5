//! The connection to the API server: kubeconfig and context as `kubectl` reads them, or the service account of the pod
//! that the process runs in.

use super::credentials::Credentials;
use super::retry::RetryPolicy;
use crate::Error;
use http::Response;
use http_body_util::Limited;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Api, Client, Config};
use std::path::PathBuf;
use std::time::Duration;
use tower::buffer::BufferLayer;
use tower::retry::RetryLayer;
use tower::util::{AndThenLayer, MapResponseLayer};

/// The default of [`Access::request_timeout`].
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Calls that wait for a connection: as many as there are proxies to ask, and more wait for those.
const CALLS_AT_ONCE: usize = 1024;

/// The largest response of the API server, in bytes. An object has at most 1.5 MiB (etcd); lists of thousands of route objects have
/// tens of megabytes.
const MAX_RESPONSE_BYTES: usize = 256 << 20;

/// Which cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The kubeconfig; without one `KUBECONFIG`, `~/.kube/config`, then the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it; without one its current context.
    pub context: Option<String>,
    /// The timeout of an API call without data; 30 s by default.
    pub request_timeout: Option<Duration>,
}

impl Access {
    /// A client for this cluster that sends failed requests again where that is safe.
    ///
    /// # Errors
    ///
    /// If there is neither a kubeconfig nor a service account, or they cannot be used.
    pub async fn client(&self) -> Result<Client, Error> {
        Ok(self.client_and_address().await?.0)
    }

    pub(crate) async fn client_and_address(&self) -> Result<(Client, String), Error> {
        let mut config = config(self).await?;
        let address = config.cluster_url.to_string();
        config.read_timeout = Some(self.request_timeout.unwrap_or(DEFAULT_REQUEST_TIMEOUT));
        let client = client(config).map_err(|source| unreachable(&address, source))?;
        Ok((client, address))
    }
}

/// A client that retries failed calls if that is safe, and reads no response without end. The retry layer has to be cloned for each
/// call, and so is on top of a buffer.
fn client(config: Config) -> Result<Client, kube::Error> {
    let again = RetryPolicy::new().map_err(|source| kube::Error::Service(source.into()))?;
    let credentials = Credentials::of(&config.auth_info);
    let redacted = move |response| credentials.clone().redacted(response);
    let builder = ClientBuilder::try_from(config)?
        .with_layer(&MapResponseLayer::new(limited))
        .with_layer(&AndThenLayer::new(redacted))
        .with_layer(&BufferLayer::new(CALLS_AT_ONCE));
    Ok(builder.with_layer(&RetryLayer::new(again)).build())
}

/// The response, whose body is an error from the byte on that is one too many.
fn limited<B>(response: Response<B>) -> Response<Limited<B>> {
    response.map(|body| Limited::new(body, MAX_RESPONSE_BYTES))
}

async fn config(access: &Access) -> Result<Config, Error> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    match &access.kubeconfig {
        Some(path) => {
            let unusable = |error| kubeconfig_error(Some(path.clone()), error);
            let file = Kubeconfig::read_from(path).map_err(unusable)?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(unusable)
        }
        None => match Config::from_kubeconfig(&options).await {
            Ok(config) => Ok(config),
            Err(error) if access.context.is_some() => Err(kubeconfig_error(None, error)),
            Err(error) => Config::incluster().map_err(|_| kubeconfig_error(None, error)),
        },
    }
}

/// `kube` names a file that cannot be read with its quotes escaped: the message here names it once.
fn kubeconfig_error(path: Option<PathBuf>, error: KubeconfigError) -> Error {
    match error {
        KubeconfigError::ReadConfig(source, found) => {
            Error::Kubeconfig { path: path.or(Some(found)), source: Box::new(source) }
        }
        other => Error::Kubeconfig { path, source: Box::new(other) },
    }
}

fn unreachable(address: &str, source: kube::Error) -> Error {
    Error::Unreachable { address: address.to_owned(), source: Box::new(source) }
}

/// The user that the API server authenticates; `None` if it does not say.
///
/// # Errors
///
/// If the credentials are rejected, or the API server does not respond.
pub(crate) async fn whoami(client: &Client, address: &str) -> Result<Option<String>, Error> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    match reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await {
        Ok(review) => Ok(review.status.and_then(|status| status.user_info).and_then(|user| user.username)),
        Err(kube::Error::Api(status)) if status.code == 401 => {
            Err(Error::Unauthorized { address: address.to_owned() })
        }
        // An API server without the API, or one that does not allow it.
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_forbidden() => Ok(None),
        Err(source) => Err(unreachable(address, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use futures_util::stream;
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper::body::Frame;
    use tower::BoxError;

    #[tokio::test]
    async fn a_kubeconfig_that_is_not_there_is_named_once() {
        let access = Access { kubeconfig: Some("nokc".into()), ..Access::default() };
        let error = config(&access).await.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(error.to_string(), "cannot use the kubeconfig `nokc`");
        assert!(cause.starts_with("No such file") && !cause.contains("nokc"), "{cause}");
    }

    static MEGABYTE: [u8; 1 << 20] = [b' '; 1 << 20];

    #[tokio::test]
    async fn a_response_that_never_ends_is_an_error() {
        let frame = || Ok::<_, BoxError>(Frame::data(Bytes::from_static(&MEGABYTE)));
        let mut body = limited(Response::new(StreamBody::new(stream::repeat_with(frame)))).into_body();
        let mut read = 0;
        let error = loop {
            match body.frame().await.unwrap() {
                Ok(_) => read += MEGABYTE.len(),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!((read, error.as_str()), (MAX_RESPONSE_BYTES, "length limit exceeded"));
    }
}
