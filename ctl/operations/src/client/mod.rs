//! The API server: how to reach it, which failed requests are sent again, and reading and writing objects.
//!
//! ```text
//! kubeconfig   the files, a context in them, its API server   files         -> Context
//! proxy        the proxy on the way, as kubectl chooses it    environment   -> Proxy
//! exec_plugin  credential plugins                             ExecConfig    -> PluginCredential
//! bearer       the token of each request                      AuthInfo      -> Bearer
//! transport    connections, and what requests carry           Config        -> Transport
//! connect      all of that together                           Access        -> kube::Client
//! credentials  an error response without the credentials of the kubeconfig
//! deadline     the time until a response is complete      request       -> Response
//! silence      how long it has been silent                    requests      -> Duration
//! request_observer  reports each request                    request       -> ApiRequestDone
//! retry        which failed requests are sent again           API error     -> RetryPolicy
//! api_error    maps an API status to an error                 Status        -> Error
//! objects      reads objects of any kind                      Reference     -> JSON
//! write        applies, updates and deletes objects           Change        -> API requests
//! pods         pods by labels, and which are ready            labels        -> Pod
//! ```

mod api_error;
pub(crate) mod backoff;
mod bearer;
mod connect;
mod credentials;
mod deadline;
mod exec_plugin;
mod kubeconfig;
mod objects;
pub(crate) mod pods;
mod proxy;
mod request_observer;
mod retry;
mod silence;
mod transport;
mod write;

pub use connect::{Access, Impersonated};
pub use request_observer::{ApiRequestDone, RequestObserver};
pub use silence::{Silence, SilenceObserver};

pub(crate) use api_error::ApiRequest;
pub(crate) use connect::whoami;
pub(crate) use pods::ServicePods;
pub(crate) use write::WriteMode;

/// Reads and writes objects of any kind.
#[derive(Clone)]
pub(crate) struct ApiClient {
    pub(crate) client: kube::Client,
    /// Takes fields from their owners.
    pub(crate) force_conflicts: bool,
}
