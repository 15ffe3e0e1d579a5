//! The connection to the API server: kubeconfig and context as `kubectl` reads them, or the service account of the pod
//! that the process runs in.

use super::retry::RetryPolicy;
use crate::Error;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use std::path::PathBuf;
use std::time::Duration;
use tower::buffer::BufferLayer;
use tower::retry::RetryLayer;

/// The default of [`Access::request_timeout`].
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Calls that wait for a connection: as many as there are proxies to ask, and more wait for those.
const CALLS_AT_ONCE: usize = 1024;

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
        let client = client(config).map_err(|source| Error::unreachable(&address, source))?;
        Ok((client, address))
    }
}

/// A client that retries failed calls if that is safe. The retry layer has to be cloned for each call, and so is on top
/// of a buffer.
fn client(config: Config) -> Result<Client, kube::Error> {
    let again = RetryPolicy::new().map_err(|source| kube::Error::Service(source.into()))?;
    let builder = ClientBuilder::try_from(config)?.with_layer(&BufferLayer::new(CALLS_AT_ONCE));
    Ok(builder.with_layer(&RetryLayer::new(again)).build())
}

async fn config(access: &Access) -> Result<Config, Error> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    match &access.kubeconfig {
        Some(path) => {
            let unusable = |source| Error::Kubeconfig { path: Some(path.clone()), source };
            let file = Kubeconfig::read_from(path).map_err(unusable)?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(unusable)
        }
        None => match Config::from_kubeconfig(&options).await {
            Ok(config) => Ok(config),
            Err(source) if access.context.is_some() => Err(Error::Kubeconfig { path: None, source }),
            Err(source) => Config::incluster().map_err(|_| Error::Kubeconfig { path: None, source }),
        },
    }
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
        Err(source) => Err(Error::unreachable(address, source)),
    }
}
