//! The way to the API server: kubeconfig and context as `kubectl` has them, or the service account of the pod we are in.

use super::retry::RetryPolicy;
use super::{Error, LeaseTiming};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tower::buffer::BufferLayer;
use tower::retry::RetryLayer;

/// How long an API call may be silent where nothing is said.
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
    /// An API call that is silent for so long has failed; half a minute where nothing is said.
    pub request_timeout: Option<Duration>,
}

/// How objects are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Takes fields from their owners.
    pub force_conflicts: bool,
    /// Puts routes into objects that belong to a tool.
    pub take_over: bool,
    /// How long Leases hold and are waited for.
    pub patience: LeaseTiming,
    /// Stops after so many writes, as if the process had been killed there. For tests.
    pub at_most: Option<u32>,
}

/// A cluster that answers.
pub struct Cluster {
    pub(super) client: Client,
    pub(super) writing: WriteOptions,
    pub(super) written: AtomicU32,
    /// Who we are there.
    pub(super) user: String,
}

impl Cluster {
    /// Finds the cluster and asks it who we are.
    ///
    /// Fails where there is no kubeconfig and no service account, and where the API server does not answer. A cluster
    /// that does not tell people who they are is no failure.
    pub async fn connect(access: &Access, writing: WriteOptions) -> Result<Self, Error> {
        let mut config = config(access).await?;
        let address = config.cluster_url.to_string();
        config.read_timeout = Some(access.request_timeout.unwrap_or(DEFAULT_REQUEST_TIMEOUT));
        let client = client(config).map_err(|source| Error::unreachable(&address, source))?;
        let user = match whoami(&client).await {
            Ok(user) => user,
            Err(kube::Error::Api(status)) if status.code == 401 => {
                return Err(Error::Unauthorized { address });
            }
            // An API server that has no such thing, or tells nobody.
            Err(kube::Error::Api(status)) if status.is_not_found() || status.is_forbidden() => None,
            Err(source) => return Err(Error::unreachable(&address, source)),
        };
        let user = user.or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| "unknown".to_owned());
        Ok(Self { client, writing, written: AtomicU32::new(0), user })
    }
}

/// A client that makes failed calls again where that is safe. What makes them again has to be cloned for each call, and so
/// stands on a buffer.
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

async fn whoami(client: &Client) -> Result<Option<String>, kube::Error> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await?;
    Ok(review.status.and_then(|status| status.user_info).and_then(|user| user.username))
}
