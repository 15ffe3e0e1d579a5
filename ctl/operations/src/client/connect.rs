//! The connection to the API server: kubeconfig and context as `kubectl` reads them, or the service account of the pod
//! that the process runs in.

use super::bearer::Bearer;
use super::credentials::Credentials;
use super::deadline::{AFTER_SILENCE, DeadlineLayer, LimitedRequests};
use super::kubeconfig::{self, Context, InFile, KubeconfigEnvironment};
use super::proxy::{Proxy, ProxyEnvironment};
use super::request_observer::{RequestLayer, RequestObserver};
use super::retry::RetryPolicy;
use super::silence::{Silence, SilenceLayer, SilenceObserver};
use super::transport::{Transport, transport};
use crate::Error;
use crate::error::{AUTHENTICATE, KubeconfigError, RequestFailure, excerpt};
use http::Response;
use http_body_util::Limited;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::client::ClientBuilder;
use kube::config::AuthInfo;
use kube::{Api, Client, Config};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;
use tower::Layer as _;
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
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The kubeconfig; without one `KUBECONFIG`, `~/.kube/config`, then the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it; without one its current context.
    pub context: Option<String>,
    /// The timeout of an API request, until its response is complete; 30 s by default.
    pub request_timeout: Option<Duration>,
    /// The user, and the groups, that the API server is asked to take the caller for.
    pub impersonated: Option<Impersonated>,
    /// Called within a second, and again every five, while an API server responds to no request.
    pub on_silence: Option<SilenceObserver>,
    /// Called after each request.
    pub on_request: Option<RequestObserver>,
    /// Knows how long the API server has been silent.
    pub silence: Silence,
}

/// Another user than that of the kubeconfig.
#[derive(Clone, Debug, Default)]
pub struct Impersonated {
    /// The user.
    pub user: String,
    /// The groups; none for those of the user.
    pub groups: Vec<String>,
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

    /// The namespace of a call that names none: that of the context, or of the service account. `None` where the context has none.
    ///
    /// # Errors
    ///
    /// As [`client`](Self::client).
    pub fn namespace(&self) -> Result<Option<String>, Error> {
        let target = self.target(&Environment::of_process());
        Ok(target.map_err(|(path, source)| Error::Kubeconfig { path, source })?.namespace)
    }

    pub(crate) async fn client_and_address(&self) -> Result<(Client, String), Error> {
        self.connect(&Environment::of_process()).await
    }

    async fn connect(&self, environment: &Environment) -> Result<(Client, String), Error> {
        let unusable = |(path, source)| Error::Kubeconfig { path, source };
        let Target { mut config, mut user, proxy, context, namespace: _ } =
            self.target(environment).map_err(unusable)?;
        let limit = self.request_timeout.unwrap_or(DEFAULT_REQUEST_TIMEOUT);
        config.read_timeout = Some(limit + AFTER_SILENCE);
        let password = user.password.clone();
        let bearer = Bearer::take(&mut user).await.map_err(Box::new)?;
        if let Some(Impersonated { user: name, groups }) = &self.impersonated {
            user.impersonate = Some(name.clone());
            user.impersonate_groups = Some(groups.clone());
        }
        config.auth_info = user;
        let credentials = Credentials::new(password.as_ref(), bearer.clone());
        let transport = transport(&config, proxy.as_ref(), bearer);
        let transport = transport.map_err(|error| unusable((self.kubeconfig.clone(), error.into())))?;
        let transport = DeadlineLayer(limit).layer(transport);
        let url = &config.cluster_url;
        let address =
            context.map_or_else(|| url.to_string(), |context| format!("{url} (context `{context}`)"));
        let silence = SilenceLayer {
            silence: self.silence.clone(),
            address: address.as_str().into(),
            observer: self.on_silence,
        };
        let requests = RequestLayer(self.on_request);
        let client = client(transport, credentials, requests, &silence);
        let client = client.map_err(|source| unreachable(&address, source))?;
        Ok((client, address))
    }

    /// The connection that the kubeconfig describes; in a pod without a kubeconfig that of its service account.
    fn target(&self, environment: &Environment) -> Result<Target, InFile<KubeconfigError>> {
        let file = match &self.kubeconfig {
            Some(path) => kubeconfig::read(path).map_err(|error| (Some(path.clone()), error)),
            None => environment.files.read(),
        };
        let is_missing = |error: &InFile<KubeconfigError>| match &error.1 {
            KubeconfigError::Read(error) => error.kind() == ErrorKind::NotFound,
            KubeconfigError::NoHome => true,
            _ => false,
        };
        let file = match file {
            Err(error) if self.kubeconfig.is_none() && self.context.is_none() && is_missing(&error) => {
                let mut config = Config::incluster().map_err(|_| error)?;
                let user = std::mem::take(&mut config.auth_info);
                let namespace = Some(config.default_namespace.clone());
                return Ok(Target { config, user, proxy: None, context: None, namespace });
            }
            file => file?,
        };
        let in_file = |error| (self.kubeconfig.clone(), error);
        let Context { name, config, user, proxy_url, namespace } =
            kubeconfig::context(&file, self.context.as_deref()).map_err(in_file)?;
        let proxy = environment.proxies.proxy_to(&config.cluster_url, proxy_url.as_deref());
        Ok(Target { config, user, proxy: proxy.map_err(in_file)?, context: Some(name), namespace })
    }
}

/// The settings beside [`Access`].
#[derive(Clone, Debug, Default)]
struct Environment {
    files: KubeconfigEnvironment,
    proxies: ProxyEnvironment,
}

impl Environment {
    fn of_process() -> Self {
        Self { files: KubeconfigEnvironment::of_process(), proxies: ProxyEnvironment::of_process() }
    }
}

/// An API server, who calls it, and the way there.
struct Target {
    config: Config,
    user: AuthInfo,
    proxy: Option<Proxy>,
    context: Option<String>,
    namespace: Option<String>,
}

/// A client that retries failed calls if that is safe, and reads no response without end. The retry layer has to be cloned for each
/// call, and so is on top of a buffer.
fn client(
    transport: LimitedRequests<Transport>,
    credentials: Credentials,
    requests: RequestLayer,
    silence: &SilenceLayer,
) -> Result<Client, kube::Error> {
    let again = RetryPolicy::new().map_err(|source| kube::Error::Service(source.into()))?;
    let redacted = move |response| credentials.clone().redacted(response);
    let builder = ClientBuilder::new(transport, "default")
        .with_layer(&MapResponseLayer::new(limited))
        .with_layer(&AndThenLayer::new(redacted))
        .with_layer(&requests)
        .with_layer(&BufferLayer::new(CALLS_AT_ONCE));
    Ok(builder.with_layer(&RetryLayer::new(again)).with_layer(silence).build())
}

/// The response, whose body is an error from the byte on that is one too many.
fn limited<B>(response: Response<B>) -> Response<Limited<B>> {
    response.map(|body| Limited::new(body, MAX_RESPONSE_BYTES))
}

fn unreachable(address: &str, source: kube::Error) -> Error {
    Error::Unreachable { address: address.to_owned(), source: RequestFailure::new(source) }
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
        Err(kube::Error::Api(status)) => Err(Error::Unable {
            verb: AUTHENTICATE,
            object: address.to_owned(),
            code: status.code,
            message: excerpt(&status.message),
        }),
        Err(source) => Err(unreachable(address, source)),
    }
}

#[cfg(test)]
#[path = "connect_tests.rs"]
mod connect_tests;

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
        let error = access.client().await.err().unwrap();
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
